/** The kernel that reads files: services that count what they are asked for. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nullTranslator } from '@jupyterlab/translation';
import { FileReader } from './fileReader.ts';

const MIME_TYPE = 'application/vnd.jaxviz.v1+json';

class FakeSession {
  isDisposed = false;
  ended = false;
  readonly asked: string[] = [];
  readonly kernel = {
    name: 'python3',
    status: 'idle',
    requestExecute: ({ code }: { code: string }) => {
      const file = /open\("(.*?)"\)/.exec(code)?.[1] ?? '';
      this.asked.push(file);
      const future: { onIOPub?: (message: unknown) => void; done: Promise<void> } = {
        done: Promise.resolve().then(() => {
          const [type, content] = file.includes('bad')
            ? ['error', { ename: 'OpenError', evalue: `${file}: line 1:1: expected HLO` }]
            : ['display_data', { data: { [MIME_TYPE]: `document of ${file}` } }];
          future.onIOPub?.({ header: { msg_type: type }, content });
        })
      };
      return future;
    }
  };

  dispose(): void {
    this.isDisposed = true;
  }

  shutdown(): Promise<void> {
    this.ended = true;
    return Promise.resolve();
  }
}

function made(): { reader: FileReader; sessions: FakeSession[] } {
  const sessions: FakeSession[] = [];
  const services = {
    kernelspecs: {
      ready: Promise.resolve(),
      specs: { default: 'python3', kernelspecs: { python3: { name: 'python3', language: 'python' } } }
    },
    contents: { localPath: (path: string) => path.replace(/^.*:/, '') },
    sessions: {
      refreshRunning: () => Promise.resolve(),
      startNew: () => {
        assert.ok(sessions.every(({ isDisposed }) => isDisposed));
        sessions.push(new FakeSession());
        return Promise.resolve(sessions.at(-1));
      }
    }
  };
  return { reader: new FileReader(services as never, nullTranslator.load('')), sessions };
}

test('files that are opened together are read by one kernel, which ends with the last of them', async () => {
  const { reader, sessions } = made();
  const letGo = [reader.hold(), reader.hold()];
  const read = await Promise.all(['a/one.hlo', 'drive:two.mlir'].map(path => reader.read(path)));
  assert.deepEqual(read, ['document of a/one.hlo', 'document of two.mlir']);
  assert.deepEqual(
    sessions.map(({ asked }) => asked),
    [['a/one.hlo', 'two.mlir']]
  );
  letGo[0]();
  await new Promise(setImmediate);
  assert.equal(sessions[0].ended, false);
  letGo[1]();
  reader.hold();
  assert.equal(await reader.read('three.hlo'), 'document of three.hlo');
  assert.deepEqual(
    sessions.map(({ ended }) => ended),
    [true, false]
  );
});

test('a kernel that somebody shut down is started anew, and one that could not read a file goes on', async () => {
  const { reader, sessions } = made();
  reader.hold();
  await assert.rejects(reader.read('bad.hlo'), /^Error: bad.hlo: line 1:1: expected HLO$/);
  await reader.read('one.hlo');
  assert.equal(sessions.length, 1);
  sessions[0].dispose();
  await reader.read('one.hlo');
  assert.equal(sessions.length, 2);
});
