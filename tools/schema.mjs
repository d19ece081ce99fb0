/**
 * Makes the TypeScript side of `schema/document.schema.json`: the types of a document, and a validator that needs no
 * `eval` in the browser. Both are ignored by git and made again when the schema is newer.
 */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { compile } from 'json-schema-to-typescript';

const source = new URL('../schema/document.schema.json', import.meta.url);
const folder = new URL('../labextension/src/document/', import.meta.url);
const types = new URL('schema.generated.ts', folder);
const validator = new URL('validate.generated.js', folder);
const declaration = new URL('validate.generated.d.ts', folder);

const made = [types, validator, declaration];
const newest = Math.max(statSync(source).mtimeMs, statSync(fileURLToPath(import.meta.url)).mtimeMs);
if (made.some(file => !existsSync(file) || statSync(file).mtimeMs < newest)) {
  const schema = JSON.parse(readFileSync(source, 'utf8'));
  writeFileSync(types, await compile(schema, 'DocumentFile', { bannerComment: '' }));

  // Without inlined references the validator is a third smaller: most columns share one definition.
  const ajv = new Ajv({ code: { source: true, esm: true }, inlineRefs: false, strict: false });
  ajv.addSchema({ ...schema.definitions.Document, definitions: schema.definitions }, 'Document');
  writeFileSync(validator, standalone.default(ajv, { validate: 'Document' }));
  writeFileSync(
    declaration,
    `interface Fault {
  instancePath: string;
  message?: string;
}

export const validate: { (value: unknown): boolean; errors?: Fault[] | null };
`
  );
}
