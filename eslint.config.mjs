/** Lint rules of the TypeScript side. */
import js from '@eslint/js';
import jupyter from '@jupyter/eslint-plugin';
import prettier from 'eslint-config-prettier';
import globals from './tools/globals.mjs';
import typescript from 'typescript-eslint';

export default typescript.config(
  { ignores: ['.venv*/', 'node_modules/', 'jaxviz/', '**/*.generated.*', 'test-results/', 'build/'] },
  js.configs.recommended,
  typescript.configs.recommended,
  {
    files: ['labextension/**/*.ts'],
    plugins: { '@jupyter': jupyter },
    rules: {
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }]
    }
  },
  { files: ['labextension/**/*.test.ts'], rules: { '@typescript-eslint/no-explicit-any': 'off' } },
  { files: ['tools/*.mjs', '*.mjs', '*.js'], languageOptions: { globals } },
  { files: ['rspack.config.js'], languageOptions: { sourceType: 'commonjs' } },
  prettier
);
