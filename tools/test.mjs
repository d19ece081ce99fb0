/** Runs the TypeScript tests, which stand beside the code. Node 20 cannot be given a pattern, so they are listed here. */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';

const root = 'labextension/src';
const files = readdirSync(root, { recursive: true })
  .filter(name => name.endsWith('.test.ts'))
  .map(name => join(root, name))
  .sort();
const { status } = spawnSync(process.execPath, ['--import', 'tsx', '--test', ...process.argv.slice(2), ...files], {
  stdio: 'inherit'
});
process.exit(status ?? 1);
