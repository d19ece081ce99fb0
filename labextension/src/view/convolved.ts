/** What a convolution computes: two operations for each pair that meets; what it reads of padding is not counted. */
import { numbersIn, product, type Shape } from './shapes.ts';

/** Gives an attribute of an operation as text, empty where it has none. */
type Told = (key: string) => string;

/** Of each dimension of the window. */
interface Window {
  readonly stride: Shape;
  readonly before: Shape;
  readonly imageDilation: Shape;
  readonly kernelDilation: Shape;
}

/** Where an axis stands in each of image, kernel and result; `space` holds the others in one order. */
interface Places {
  readonly batch: number;
  /** Of the kernel, what it sums over, and of the result, what it makes. */
  readonly input: number;
  readonly output: number;
  readonly space: readonly (readonly [image: number, kernel: number, result: number])[];
}

export function convolvedBy(told: Told, image: Shape, kernel: Shape, result: Shape): number {
  const places = placesOf(told);
  if (!places || places.space.length + 2 !== image.length || image.length !== kernel.length) {
    return 2 * product(result) * product(kernel);
  }
  const { stride, before, imageDilation, kernelDilation } = windowOf(told);
  let pairs = 1;
  places.space.forEach(([ofImage, ofKernel, ofResult], i) => {
    pairs *= meeting(image[ofImage], kernel[ofKernel], result[ofResult], {
      stride: stride[i] ?? 1,
      before: before[i] ?? 0,
      imageDilation: imageDilation[i] ?? 1,
      kernelDilation: kernelDilation[i] ?? 1
    });
  });
  // Of one group alone, where there are several.
  const batches = Math.max(1, numbersIn(told('batch_group_count'))[0] ?? 1);
  return 2 * pairs * kernel[places.input] * result[places.output] * Math.floor(image[places.batch] / batches);
}

/** How many places a window has. */
export function windowSize(told: Told): number {
  const sizes = told('window_dimensions') || (windowParts(told('window')).get('size') ?? '');
  return product(numbersIn(sizes.replaceAll('x', ' ')));
}

/** The axes, from the numbers of a jaxpr or the labels of the compiler's forms. */
function placesOf(told: Told): Places | undefined {
  const text = told('dimension_numbers');
  const specs = ['lhs_spec', 'rhs_spec', 'out_spec'].map(key => new RegExp(`${key}=\\(([\\d, ]*)\\)`).exec(text)?.[1]);
  if (specs.every(spec => spec !== undefined)) {
    const [image, kernel, result] = specs.map(spec => numbersIn(spec));
    const space = image.slice(2).map((axis, i) => [axis, kernel[i + 2], result[i + 2]] as const);
    return { batch: image[0], input: kernel[1], output: result[1], space };
  }
  const labels = (told('dim_labels') || text.replace(/[[\], ]/g, '').replace('x', '_')).split(/_|->/);
  if (labels.length !== 3) {
    return undefined;
  }
  const [image, kernel, result] = labels;
  const digits = [...image].filter(label => label >= '0' && label <= '9').sort();
  const space = digits.map(digit => [image.indexOf(digit), kernel.indexOf(digit), result.indexOf(digit)] as const);
  return { batch: image.indexOf('b'), input: kernel.indexOf('i'), output: result.indexOf('f'), space };
}

function windowOf(told: Told): Window {
  const parts = windowParts(told('window'));
  if (parts.size > 0) {
    const of = (key: string): Shape => numbersIn((parts.get(key) ?? '').replaceAll('x', ' '));
    const before = (parts.get('pad') ?? '').split('x').map(pad => numbersIn(pad.replace('_', ' '))[0]);
    return { stride: of('stride'), before, imageDilation: of('lhs_dilate'), kernelDilation: of('rhs_dilate') };
  }
  return {
    stride: numbersIn(told('window_strides')),
    // Before and behind, in turns.
    before: numbersIn(told('padding')).filter((_, i) => i % 2 === 0),
    imageDilation: numbersIn(told('lhs_dilation')),
    kernelDilation: numbersIn(told('rhs_dilation'))
  };
}

/** `{size=3x3 pad=1_1x1_1}` by its keys. */
function windowParts(text: string): ReadonlyMap<string, string> {
  return new Map([...text.matchAll(/(\w+)=([^ }]+)/g)].map(([, key, value]) => [key, value]));
}

/** How many pairs of a place of the result and one of the window lie on the image, in one dimension. */
function meeting(image: number, size: number, result: number, by: Readonly<Record<keyof Window, number>>): number {
  const { stride, before, imageDilation, kernelDilation } = by;
  const last = (image - 1) * imageDilation;
  let pairs = 0;
  for (let at = 0; at < size; at++) {
    const from = at * kernelDilation - before;
    const [least, most] = [
      Math.max(0, Math.ceil(-from / stride)),
      Math.min(result - 1, Math.floor((last - from) / stride))
    ];
    // Between the numbers of an image that is drawn apart, there is nothing.
    for (let place = least; place <= Math.min(most, least + imageDilation - 1); place++) {
      if ((place * stride + from) % imageDilation === 0) {
        pairs += Math.floor((most - place) / (imageDilation / commonDivisor(stride, imageDilation))) + 1;
        break;
      }
    }
  }
  return pairs;
}

function commonDivisor(a: number, b: number): number {
  return b === 0 ? a : commonDivisor(b, a % b);
}
