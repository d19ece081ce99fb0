import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Window } from 'happy-dom';
import fc from 'fast-check';
import { affine, loop, Sketch } from '../document/sketch.ts';
import { families } from '../view/family.ts';
import { BOX_HEIGHT, boxWidth, CHIP_HEIGHT } from '../view/sizes.ts';
import { Shape } from '../view/visible.ts';
import { boxAt, fitCamera } from './canvas.ts';
import { boxLook, MARGIN, placeChips, routeOf, titleOf, type Scene } from './scene.ts';
import { sceneOf } from './sceneOf.ts';
import { toSvg } from './svg.ts';
import { escape, lookAttributes } from './svgText.ts';
import { measure } from './text.ts';
import { inks, looks, palettes, type Look, type LookName, type Theme } from './theme.ts';

const svgOf = (sketch: Sketch, open: readonly number[] = [], theme: Theme | 'auto' = 'auto') =>
  toSvg(sceneOf(sketch, open), { theme, title: 'a program', description: 'what it does' });

/** What has a look, in groups or alone. */
function groups(svg: string, look: LookName): string {
  const attributes = lookAttributes(looks[look], palettes.light);
  const group = `<g ${attributes}>[^]*?</g>`;
  const alone = `<rect ${attributes} x[^>]*/>`;
  return [...svg.matchAll(new RegExp(`${group}|${alone}`, 'g'))].map(([whole]) => whole).join('');
}

/** The lines of a look, each of which begins where the pen is moved to. */
function lines(svg: string, look: LookName): string[] {
  const attributes = lookAttributes(looks[look], palettes.light);
  return [...svg.matchAll(new RegExp(`<path ${attributes} d="([^"]*)"`, 'g'))].flatMap(([, path]) => path.split('\n'));
}

test('the picture has every word, a rectangle for each box and a path for each edge', () => {
  const svg = svgOf(affine());
  for (const word of ['w', 'b', 'x', 'dot_general', 'add', 'tanh', 'result', 'f32[4,8]']) {
    assert.ok(svg.includes(`>${word}</text>`), word);
  }
  const group = (name: LookName): string => groups(svg, name);
  assert.equal(lines(svg, 'edge').length, 6);
  assert.equal(group('box-elementwise').match(/<rect /g)?.length, 2);
  assert.equal(group('box-matmul').match(/<rect /g)?.length, 1);
});

test('a picture that follows its reader is the light one with rules for dark', () => {
  const [auto, light] = [svgOf(affine()), svgOf(affine(), [], 'light')];
  assert.equal(auto.replace(/<style>.*<\/style>\n| class="jv"/g, ''), light);
  assert.ok(light.length < 1400, `${light.length} characters for seven boxes`);
  assert.ok(auto.length - light.length < 340, `${auto.length - light.length} characters of rules`);
});

test('frames are painted before what stands in them', () => {
  const svg = svgOf(loop(), [1]);
  const beginOf = (look: LookName): number => svg.indexOf(groups(svg, look));
  assert.ok(beginOf('frame') < beginOf('box-elementwise'));
  assert.ok(svg.includes('>scan x32</text>'));
});

test('a frame that has a colour is filled with it, and so is the ground of its title', () => {
  const scene = sceneOf(loop(), [1]);
  const frame = scene.visible.shape.indexOf(Shape.frame);
  const coloured = { ...scene, looks: scene.looks.map((look, box) => (box === frame ? 'amount-3' : look)) };
  const svg = toSvg(coloured, { theme: 'auto', title: 'a program', description: 'what it does' });
  for (const look of ['amount-3', 'ground-amount-3'] as const) {
    assert.equal(groups(svg, look).match(/<rect /g)?.length, 1, look);
  }
  assert.equal(groups(svg, 'frame') + groups(svg, 'ground'), '');
});

test('areas with round ends are lines with round ends as soon as that is shorter', () => {
  const chipsOf = (count: number) => {
    const sketch = new Sketch();
    let value = sketch.argument('x', 'f32[4]');
    for (let i = 0; i < count; i++) {
      value = sketch.op('multiply', [value, `0.${i}`], 'f32[4]');
    }
    sketch.result('result', value);
    const scene = sceneOf(sketch);
    const placed = Array.from(scene.visible.chips).flatMap(([box, chips]) => {
      const { x, y, width } = scene.layout;
      return placeChips(chips, x[box], width[box]).map(({ chip, left }) => ({ left, y: y[box], text: chip.text }));
    });
    return { svg: toSvg(scene, { theme: 'light', title: '', description: '' }), placed };
  };
  const one = chipsOf(1).svg;
  assert.equal(groups(one, 'chip').match(/<rect /g)?.length, 1);
  assert.ok(!one.includes('linecap'));
  const { svg, placed } = chipsOf(12);
  assert.equal(groups(svg, 'chip'), '');
  const [, lines] = /<g stroke-linecap="round">\n([^]*?)\n<\/g>/.exec(svg) ?? [];
  const parsed = lines.split('/>').flatMap(path => {
    const [, stroke, width, d] = / stroke="(.*?)" stroke-width="(.*?)" d="([^]*?)"/.exec(path) ?? [];
    return d === undefined ? [] : [{ stroke, width, starts: d.split('\n').map(line => line.split('h')[0]) }];
  });
  // From the middle of the left end on, as wide as the chip with the px of its line, then as what that goes round.
  const starts = placed.map(({ left, y }) => `M${left + CHIP_HEIGHT / 2} ${y + BOX_HEIGHT / 2}`);
  assert.deepEqual(parsed, [
    { stroke: palettes.light.line, width: String(CHIP_HEIGHT + 1), starts },
    { stroke: '#fff', width: String(CHIP_HEIGHT - 1), starts }
  ]);
});

test('a title of a frame has ground of its own only where a line passes it', () => {
  const grounds = (scene: Scene) => {
    const svg = toSvg(scene, { theme: 'light', title: '', description: '' });
    return groups(svg, 'ground').match(/<rect /g)?.length ?? 0;
  };
  const scene = sceneOf(loop(), [1]);
  const frame = scene.visible.shape.indexOf(Shape.frame);
  const { layout: out } = scene;
  const middle = out.x[frame] + 30;
  const down = (x: number): Scene => ({
    ...scene,
    layout: {
      ...out,
      route: Float64Array.of(x, out.y[frame] - 10, x, out.y[frame] + 60),
      routeStart: out.routeStart.map((_, edge) => (edge === 0 ? 0 : 4 / 2))
    }
  });
  assert.equal(grounds(down(middle)), 1);
  assert.equal(grounds(down(out.x[frame] - 5)), 0);
});

test('any name is text: the picture stays valid and holds no markup from it', () => {
  const nasty = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 20 }),
    fc.constantFrom('<script>alert(1)</script>', ']]>', '"\'&', '\u0000\u0001\ufffe', '中文字', 'שלום', '👩‍👩‍👧', 'a\nb')
  );
  fc.assert(
    fc.property(nasty, nasty, (name, type) => {
      const sketch = new Sketch(name);
      sketch.result(name, sketch.op(name || 'op', [sketch.argument(name, `f32[2]`)], 'f32[2]', { [type]: type }));
      const svg = svgOf(sketch);
      assert.ok(!svg.includes('<script'));
      // eslint-disable-next-line no-control-regex
      assert.ok(!/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/.test(svg));
      const parsed = new new Window().DOMParser().parseFromString(svg, 'image/svg+xml');
      assert.equal(parsed.querySelectorAll('parsererror').length, 0);
      assert.equal(parsed.documentElement.tagName.toLowerCase(), 'svg');
    }),
    { numRuns: 60 }
  );
});

test('spaces that XML would take for one are kept by a picture that has such', () => {
  const named = (name: string) => {
    const sketch = new Sketch();
    sketch.result('result', sketch.op('tanh', [sketch.argument('x', 'f32[4]')], 'f32[4]', {}, name));
    return svgOf(sketch);
  };
  assert.ok(named('a  b').includes('xml:space="preserve"'));
  assert.ok(!named('a b').includes('xml:space'));
});

test('half of a surrogate pair is left out', () => {
  assert.equal(escape('a\ud800b'), 'ab');
  assert.equal(escape('<&>'), '&lt;&amp;&gt;');
});

test('a picture brings its own colours: light, dark, or those of the reader', () => {
  assert.ok(svgOf(affine(), [], 'light').includes('fill="#fff"'));
  assert.ok(svgOf(affine(), [], 'dark').includes(palettes.dark.background));
  const auto = svgOf(affine(), [], 'auto');
  assert.ok(auto.includes('prefers-color-scheme:dark'));
  assert.ok(auto.includes('fill="#fff"') && auto.includes(palettes.dark.background));
});

test('a box costs at most 250 bytes with its edge, its type and a chip', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 300; i++) {
    value = sketch.op('multiply', [value, '0.5'], i % 2 ? 'f32[128,4]' : 'bf16[128,4]');
  }
  sketch.result('result', value);
  assert.ok(svgOf(sketch).length / 300 < 250, `${svgOf(sketch).length / 300}`);
});

test('a small picture costs little more than its boxes', () => {
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  for (let i = 0; i < 12; i++) {
    value = sketch.op(i % 3 ? 'multiply' : 'dot_general', [value, '0.5'], 'f32[128,4]');
  }
  sketch.result('result', value);
  const svg = svgOf(sketch, [], 'light');
  assert.ok(svg.length / 14 < 225, `${svg.length / 14}`);
});

test('readers that know one family of letters, the first, have one for each kind of words', () => {
  const svg = svgOf(loop(), [1]);
  assert.ok(svg.includes('→ carry'));
  const families = [...svg.matchAll(/font-family="([^",]*)[^"]*" font-weight="(\d+)"/g)].map(([, ...both]) => both);
  assert.deepEqual(new Set(families.map(String)), new Set(['system-ui,600', "'DejaVu Sans Mono',400"]));
});

test('a chip for hundreds of names tells the first, and how many there are', () => {
  const sketch = new Sketch();
  const many = Array.from({ length: 300 }, (_, i) => sketch.argument(`params['layer_${i}']['kernel']`, 'f32[4]'));
  sketch.result('result', sketch.op('concatenate', many, 'f32[1200]'));
  const svg = svgOf(sketch);
  assert.match(svg, /<title>params\['layer_0'\]\['kernel'\] f32\[4\]\n[^<]*\nand 292 more<\/title>kernel x300</);
  assert.ok(!svg.includes('layer_200'));
});

test('what was cut is there in full, as a title', () => {
  const sketch = new Sketch();
  const name = 'a_function_with_a_name_that_is_longer_than_any_box';
  const x = sketch.argument('parameters_of_the_first_layer', 'f32[4]');
  sketch.op('tanh', [x], 'f32[4]', {}, name);
  sketch.result('result', sketch.op('add', [x, '0.123456789012345'], 'f32[4]', {}, name));
  const svg = svgOf(sketch);
  assert.ok(svg.includes(`<title>${name}</title>a_function`));
  assert.ok(svg.includes('<title>constant 0.123456789012345</title>0.1234'));
});

/** A frame of that name around so many operations side by side. */
function framed(name: string, operations: number): Scene {
  const sketch = new Sketch();
  const x = sketch.argument('x', 'f32[4]');
  const called = sketch.op('jit', [x], 'f32[4]');
  sketch.region(sketch.last, 'jit', name, () => {
    const inside = Array.from({ length: operations }, () => sketch.op('sin', [x], 'f32[4]'));
    sketch.result('', sketch.op('concatenate', inside, 'f32[4]'));
  });
  sketch.result('result', called);
  return sceneOf(sketch, [1]);
}

test('the title of a wide frame reads as that of a narrow one, without the modules of JAX, and goes on', () => {
  const titles = [1, 8].map(operations => {
    const scene = framed('x = jax.nn.gelu(jnp.dot(layer, x)) * scale', operations);
    return titleOf(scene, scene.visible.shape.indexOf(Shape.frame));
  });
  assert.equal(titles[1], 'x = gelu(dot(layer, x)) * scale');
  assert.ok(titles[1].startsWith(titles[0].replace('…', '')));
});

test('a frame with room for it tells all of a long name, and one without as much as there is room for', () => {
  const name = 'a_loss_with_a_name_that_is_longer_than_any_box';
  const [wide, narrow] = [framed(name, 8), framed(name, 1)];
  const frame = wide.visible.shape.indexOf(Shape.frame);
  assert.equal(wide.visible.label[frame], 'a_loss_with_a_name_th…');
  assert.equal(titleOf(wide, frame), name);
  const shown = titleOf(narrow, narrow.visible.shape.indexOf(Shape.frame));
  assert.match(shown, /^a_loss_with_a_name_th.*…$/);
  assert.ok(measure(shown, 'title') <= narrow.layout.width[narrow.visible.shape.indexOf(Shape.frame)]);
  const svg = toSvg(wide, { theme: 'auto', title: '', description: '' });
  assert.ok(svg.includes(`>${name}</text>`));
});

test('edges of many steps end where they should', () => {
  const scene = sceneOf(loop(), [1]);
  const svg = toSvg(scene, { theme: 'auto', title: '', description: '' });
  const ends = lines(svg, 'edge').map(path => endOf(path).map(value => value.toFixed(1)));
  const wanted = Array.from(scene.visible.source.keys(), edge => routeOf(scene.layout, edge))
    .filter(points => points.length >= 4)
    .map(points => Array.from(points.slice(-2), value => value.toFixed(1)));
  assert.ok(ends.length > 0);
  assert.deepEqual(ends.sort(), wanted.sort());
});

/** The last point of a path that begins with M and goes on in relative steps. */
function endOf(path: string): number[] {
  const at = [0, 0];
  for (const [, letter, text] of path.matchAll(/([Mvhlc])([^Mvhlc]*)/g)) {
    const values = (text.match(/-?[\d.]+/g) ?? []).map(Number);
    at[0] += letter === 'v' ? 0 : letter === 'h' ? values[0] : values[values.length - 2];
    at[1] += letter === 'h' ? 0 : values[values.length - 1];
  }
  return at;
}

test('every family has a look, and words on it can be read', () => {
  for (const { key } of families) {
    const look: Look = looks[boxLook(families.findIndex(family => family.key === key))];
    assert.ok(look, key);
    for (const theme of ['light', 'dark'] as const) {
      const palette = palettes[theme];
      assert.ok(contrast(palette.text, palette[look.fill ?? 'background']) >= 4.5, `${key} in ${theme}`);
      assert.ok(contrast(palette.muted, palette[look.fill ?? 'background']) >= 4.5, `types on ${key} in ${theme}`);
    }
  }
});

/** Contrast of two colours as the accessibility guidelines define it. */
function contrast(a: string, b: string): number {
  const luminance = (hex: string): number => {
    const [red, green, blue] = [1, 3, 5].map(at => {
      const part = parseInt(hex.slice(at, at + 2), 16) / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [light, dark] = [luminance(a), luminance(b)].sort((one, other) => other - one);
  return (light + 0.05) / (dark + 0.05);
}

test('words fit into their boxes and chips keep clear of them', () => {
  const scene = sceneOf(loop(), [1]);
  const { visible, layout: out } = scene;
  for (let box = 0; box < visible.count; box++) {
    const { label, detail, closed } = {
      label: visible.label[box],
      detail: visible.detail[box],
      closed: visible.closed[box] === 1
    };
    if (visible.shape[box] !== Shape.frame) {
      assert.ok(out.width[box] >= boxWidth(measure, label, detail, closed));
    }
    for (const { chip, left } of placeChips(visible.chips.get(box) ?? [], out.x[box], out.width[box])) {
      assert.ok(chip.side === 'left' ? left < out.x[box] : left >= out.x[box] + out.width[box]);
    }
  }
});

test('wide characters take more room', () => {
  assert.ok(measure('字字', 'name') > 2 * measure('ab', 'name') * 0.8);
  assert.equal(measure('', 'name'), 0);
});

test('words of wide scripts and ligatures of words take the room that common fonts give them', () => {
  // Hundredths of the size that a browser measured.
  const measured: Readonly<Record<string, number>> = { '\ufb03': 108, '\ufdf2': 157, '\ufdfd': 722, '\u2e3b': 284 };
  for (const [letter, hundredths] of Object.entries(measured)) {
    assert.ok(measure(letter, 'name') >= (hundredths * 12) / 100, letter);
  }
});

test('marks on letters, and what only joins letters, take no room', () => {
  for (const face of ['name', 'type'] as const) {
    assert.equal(measure('e\u0301\u20dd\u200b', face), measure('e', face));
  }
});

test('what is under a point: the box before its frame, nothing beside', () => {
  const scene = sceneOf(loop(), [1]);
  const { visible, layout: out } = scene;
  const sum = visible.label.indexOf('add');
  const frame = visible.label.indexOf('cell');
  assert.equal(boxAt(scene, out.x[sum] + 5, out.y[sum] + 5), sum);
  assert.equal(boxAt(scene, out.x[frame] + 2, out.y[frame] + 2), frame);
  assert.equal(boxAt(scene, -5, -5), -1);
});

test('fitting shows the whole picture, never larger than life', () => {
  const scene = sceneOf(affine());
  const wide = fitCamera(scene, 2000, 2000);
  assert.equal(wide.scale, 1);
  const small = fitCamera(scene, 100, 100);
  assert.ok(small.scale < 1);
  assert.ok((scene.layout.totalWidth + MARGIN - small.x) * small.scale <= 100.01);
});

/** A letter or sign of every 64 characters that Unicode has assigned: each of its scripts among them. */
function lettersOfAllScripts(): string[] {
  const letters: string[] = [];
  for (let block = 0xa0; block < 0x32000; block += 64) {
    for (let code = block; code < block + 64; code++) {
      const character = String.fromCodePoint(code);
      if (/[\p{L}\p{N}\p{S}]/u.test(character)) {
        letters.push(character);
        break;
      }
    }
  }
  return letters;
}

test('names in every script, from right to left too, are there whole and overlap nothing', () => {
  const letters = lettersOfAllScripts();
  assert.ok(letters.length > 1000);
  for (const script of [
    'Arabic',
    'Hebrew',
    'Thai',
    'Devanagari',
    'Han',
    'Hangul',
    'Ethiopic',
    'Mongolian',
    'Cuneiform'
  ]) {
    assert.ok(
      letters.some(letter => new RegExp(`\\p{Script=${script}}`, 'u').test(letter)),
      script
    );
  }
  const sketch = new Sketch();
  let value = sketch.argument('x', 'f32[4]');
  const names: string[] = [];
  for (let i = 0; i < letters.length; i += 12) {
    const name = letters.slice(i, i + 12).join('');
    names.push(name);
    value = sketch.op('add', [value, value], 'f32[4]', {}, name);
  }
  sketch.result('result', value);
  const scene = sceneOf(sketch);
  const svg = toSvg(scene, { theme: 'auto', title: '', description: '' });
  names.forEach(name => assert.ok(svg.includes(`>${escape(name)}</text>`), name));
  const { x, y, width, height } = scene.layout;
  for (const a of x.keys()) {
    for (let b = 0; b < a; b++) {
      const apart =
        x[a] + width[a] <= x[b] || x[b] + width[b] <= x[a] || y[a] + height[a] <= y[b] || y[b] + height[b] <= y[a];
      assert.ok(apart, `${scene.visible.label[a]} and ${scene.visible.label[b]}`);
    }
  }
  assert.ok(width.every(one => one >= 40));
  assert.equal(
    new new Window().DOMParser().parseFromString(svg, 'image/svg+xml').querySelectorAll('parsererror').length,
    0
  );
});

test('a picture that was simplified says so below it, where nothing stands', () => {
  const sketch = new Sketch();
  const made = [sketch.argument('x', 'f32[4]')];
  for (let i = 0; i < 400; i++) {
    made.push(sketch.op('add', [made[i], made[Math.max(0, i - 150)]], 'f32[4]'));
  }
  sketch.result('result', made[made.length - 1]);
  const scene = sceneOf(sketch);
  const svg = toSvg(scene, { theme: 'auto', title: '', description: '' });
  const [, y] = / x="0" y="(\d+)">of the \d+ longest edges only the ends are drawn<\/text>/.exec(svg) ?? [];
  const below = scene.layout.y.reduce((most, top, box) => Math.max(most, top + scene.layout.height[box]), 0);
  assert.ok(Number(y) - 11 >= below, svg.slice(-300));
  assert.ok(Number(y) < Number(/viewBox="-14 -14 \S+ (\S+)"/.exec(svg)?.[1]) - 14);
  assert.ok(!svgOf(affine()).includes('longest edges'));
});

test('a name of 10,000 characters has a box like others, and is told in full', () => {
  const sketch = new Sketch();
  const name = 'layer_'.repeat(1_700);
  sketch.result('result', sketch.op('tanh', [sketch.argument('x', 'f32[4]')], 'f32[4]', {}, name));
  const scene = sceneOf(sketch);
  assert.ok(scene.width < 400);
  assert.ok(toSvg(scene, { theme: 'light', title: '', description: '' }).includes(`<title>${name}</title>`));
});

test('readers who prefer dark have for every colour of the light picture the dark one, told once', () => {
  const coloursOf = (svg: string): string[] =>
    [...svg.matchAll(/(?:fill|stroke)="#[^"]*"/g)].map(([attribute]) => attribute);
  const [auto, dark] = [svgOf(loop(), [1]), svgOf(loop(), [1], 'dark')];
  const [style] = /<style>.*<\/style>/.exec(auto) ?? [''];
  const rules = [...style.matchAll(/\.jv \[((fill|stroke)="#[^"]*")\]\{\2:(#[0-9a-f]*)\}/g)];
  const darkOf = new Map(rules.map(([, from, property, to]) => [from, `${property}="${to}"`]));
  assert.equal(darkOf.size, rules.length);
  assert.deepEqual(
    coloursOf(auto.replace(style, '')).map(light => darkOf.get(light)),
    coloursOf(dark)
  );
});

test('what has one colour in a light picture has one in a dark one', () => {
  const all: Look[] = [...Object.values(looks), ...Object.values(inks).map(({ role }) => ({ fill: role }))];
  for (const property of ['fill', 'stroke'] as const) {
    const roles = new Set(['background' as const, ...all.flatMap(look => look[property] ?? [])]);
    const darkOf = new Map<string, string>();
    for (const role of roles) {
      const [light, dark] = [palettes.light[role], palettes.dark[role]];
      assert.equal(darkOf.get(light) ?? dark, dark, `${property} of ${role}`);
      darkOf.set(light, dark);
    }
  }
});

test('a note of several lines stands below the picture with all its words, and has the room for them', () => {
  const note = 'it stops here\nbecause it depends on a value, which is longer than the picture is wide\n\n    a & b';
  const scene = sceneOf(affine());
  const svg = toSvg(scene, { theme: 'light', title: '', description: '', note });
  const at = [...svg.matchAll(/<text[^>]* x="(\d+)" y="(\d+)"[^>]*>([^<]*)<\/text>/g)];
  const told = at
    .map(([, x, y, text]) => ({ x: Number(x), y: Number(y), text }))
    .filter(({ y }) => y > scene.layout.totalHeight)
    .sort((a, b) => a.y - b.y);
  const lines = note.split('\n');
  assert.deepEqual(
    told.map(({ text }) => text),
    ['it stops here', lines[1], 'a &amp; b']
  );
  assert.ok(told[2].x > told[0].x);
  const [, width, height] = /width="([\d.]+)" height="([\d.]+)"/.exec(svg)?.map(Number) ?? [];
  assert.ok(told[2].y + MARGIN < height);
  assert.ok(width >= measure(lines[1], 'chip') + MARGIN);
});

test('a picture that has no more room is drawn as wide as that, and all of it', () => {
  const scene = sceneOf(affine());
  const drawn = (most: number): number[] => {
    const svg = toSvg(scene, { theme: 'light', title: '', description: '', most });
    const [, ...sizes] = /width="([\d.]+)" height="([\d.]+)" viewBox="-\d+ -\d+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
    return sizes.map(Number);
  };
  const [width, height, ...all] = drawn(100);
  assert.equal(width, 100);
  assert.ok(Math.abs(height / width - scene.height / scene.width) < 0.01);
  assert.deepEqual(all, drawn(2000).slice(2));
  assert.deepEqual(drawn(2000).slice(0, 2), all);
});
