import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { Window } from 'happy-dom';
import { decodePlain } from '../document/decode.ts';
import { affine } from '../document/sketch.ts';
import { lineFor, Stopped, type KernelLine, type Rebuilt } from './kernelLine.ts';
import { rebuildingPart } from './strips/rebuilding.ts';
import { Working } from './working.ts';

const ALONE = lineFor(decodePlain(affine().plain()), undefined);
const saved = globalThis.document;
let window: Window;

beforeEach(() => {
  window = new Window();
  globalThis.document = window.document as unknown as Document;
});
afterEach(async () => {
  globalThis.document = saved;
  await window.happyDOM.close();
});

/** A kernel that answers when it is told to. */
function slow(): {
  line: KernelLine;
  tell: (words: string) => void;
  end: (error?: Error) => void;
  stops: () => number;
} {
  let told: (words: string) => void = () => undefined;
  let end: (error?: Error) => void = () => undefined;
  let stopped = 0;
  const ask = <Answer>(answer: Answer, hear: (words: string) => void) => {
    told = hear;
    return {
      answer: new Promise<Answer>((resolve, reject) => (end = error => (error ? reject(error) : resolve(answer)))),
      stop: () => {
        stopped++;
        end(new Stopped());
      }
    };
  };
  const line: KernelLine = {
    missing: () => '',
    run: hear => ask<void>(undefined, hear),
    rebuild: (loop, hear) => ask<Rebuilt>({ rows: [], said: [`loop ${loop}`] }, hear)
  };
  return { line, tell: words => told(words), end: error => end(error), stops: () => stopped };
}

const later = (): Promise<void> => new Promise(done => setTimeout(done));
const press = (root: HTMLElement, text: string): void =>
  [...root.querySelectorAll('button')].find(one => one.textContent === text)?.click();

test('a run says how far it is, and nothing any more when it is done', async () => {
  const { line, tell, end } = slow();
  const busy: boolean[] = [];
  const working = new Working(line, now => busy.push(now));
  assert.ok(working.root.hidden);
  working.run();
  assert.ok(!working.root.hidden && working.busy);
  assert.match(working.root.textContent, /running: waiting for the kernel/);
  tell('3 of 20 runs');
  assert.match(working.root.textContent, /running: 3 of 20 runs/);
  end();
  await later();
  assert.ok(working.root.hidden && !working.busy);
  assert.deepEqual(busy, [true, false]);
});

test('the same button stops it, and so does the one in the line', async () => {
  const { line, stops } = slow();
  const working = new Working(line, () => undefined);
  working.run();
  working.run();
  assert.equal(stops(), 1);
  await later();
  assert.match(working.root.textContent, /Stopped: the picture is as it was/);
  press(working.root, 'close');
  assert.ok(working.root.hidden);
  working.run();
  press(working.root, 'stop');
  assert.equal(stops(), 2);
  await later();
  assert.ok(!working.busy);
});

test('errors are said until they are read, and it can be asked again', async () => {
  const { line, end } = slow();
  const working = new Working(line, () => undefined);
  working.run();
  end(new Error('the device has no room'));
  await later();
  assert.match(working.root.textContent, /^the device has no room/);
  working.run();
  assert.ok(working.busy);
  working.dispose();
});

test('without a kernel it is said what needs one, and how to get it', () => {
  const working = new Working(ALONE, () => assert.fail('nothing begins'));
  working.run();
  assert.match(working.root.textContent, /no kernel here.*%jaxviz --run/);
  assert.ok(!working.root.hidden && !working.busy);
});

test('without a kernel a run that is known is not asked for in vain', () => {
  const working = new Working(ALONE, () => assert.fail('nothing begins'), true);
  working.run();
  assert.match(working.root.textContent, /no kernel here.*What was measured before is below the picture\./);
});

test('one thing is asked at a time, and the one that is under way stays', async () => {
  const { line, tell } = slow();
  const working = new Working(line, () => undefined);
  working.run();
  assert.equal(await working.rebuild(0), undefined);
  assert.match(working.root.textContent, /one thing at a time/);
  tell('4 of 20 runs');
  assert.match(working.root.textContent, /4 of 20 runs/);
  assert.ok(working.busy);
  working.dispose();
});

test('putting a rebuilt loop beside the other is asked for, told and stopped as all that takes long', async () => {
  const { line, tell, end, stops } = slow();
  const besides = slow();
  const working = new Working(
    {
      ...line,
      rebuild: (loop, hear) => {
        const { answer, stop } = line.rebuild(loop, hear);
        return { answer: answer.then(found => ({ ...found, beside: besides.line.run })), stop };
      }
    },
    () => undefined
  );
  const heard: string[] = [];
  const asked = working.rebuild(0, words => heard.push(words));
  tell('compiling it unrolled, 80 equations, 3 s');
  assert.match(working.root.textContent, /^comparing: compiling it unrolled, 80 equations, 3 s/);
  assert.equal(heard.at(-1), 'comparing: compiling it unrolled, 80 equations, 3 s');
  end();
  void (await asked)?.open?.(words => heard.push(words));
  assert.ok(working.busy);
  besides.tell('putting both side by side');
  assert.match(working.root.textContent, /^comparing: putting both side by side/);
  press(working.root, 'stop');
  await later();
  assert.deepEqual([stops(), besides.stops(), working.busy], [0, 1, false]);
  assert.equal(heard.at(-1), 'Stopped: the picture is as it was.');
});

test('what a rebuilt loop costs stands with the finding, and both are a click away', async () => {
  let [opened, stopped] = [0, 0];
  let tell: (words: string) => void = () => undefined;
  const rows = [
    ['', 'unrolled', 'fori_loop'],
    ['trace', '12 ms', '1 ms']
  ];
  const part = rebuildingPart({
    rebuild: told => {
      tell = told;
      return Promise.resolve({ rows, said: ['It is faster.'], open: () => Promise.resolve(opened++) });
    },
    stop: () => stopped++
  });
  press(part, 'compare with a loop of JAX');
  tell('comparing: compiling it unrolled, 3 s');
  const shown = [...part.children].filter(one => !(one as HTMLElement).hidden).map(one => one.textContent);
  // However long the words are, the button is not moved by them.
  assert.deepEqual(shown, ['', 'compare with a loop of JAX', 'stop', 'comparing: compiling it unrolled, 3 s']);
  press(part, 'stop');
  assert.equal(stopped, 1);
  await later();
  assert.deepEqual(
    [...part.querySelectorAll('tr')].map(row => [...row.children].map(cell => cell.textContent)),
    rows
  );
  assert.match(part.textContent, /It is faster\./);
  press(part, 'side by side');
  assert.equal(opened, 1);
  // What was said elsewhere leaves the button as it is.
  const failing = rebuildingPart({
    rebuild: told => {
      told('Stopped: the picture is as it was.');
      return Promise.resolve(undefined);
    },
    stop: () => undefined
  });
  press(failing, 'compare with a loop of JAX');
  await later();
  const seen = [...failing.children].filter(one => !(one as HTMLElement).hidden).map(one => one.textContent);
  assert.deepEqual(seen, ['', 'compare with a loop of JAX', 'Stopped: the picture is as it was.']);
});
