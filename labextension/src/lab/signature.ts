/** What of a program's call is another than in the calls before it that are most like it. */

export interface Part {
  readonly text: string;
  readonly differs: boolean;
}

/** The call in parts, those that differ from the nearest of the calls before marked; one part where nothing is before. */
export function marked(call: string, before: readonly string[]): readonly Part[] {
  const own = words(call);
  let nearest: readonly boolean[] | null = null;
  for (const other of before.filter(one => one !== call && hasTypes(one) === hasTypes(call))) {
    const kept = common(own, words(other));
    if (!nearest || count(kept) >= count(nearest)) {
      nearest = kept;
    }
  }
  if (!nearest || !nearest.some(one => one) || nearest.every(one => one)) {
    return [{ text: call, differs: false }];
  }
  const parts: { text: string; differs: boolean }[] = [];
  own.forEach((text, place) => {
    const differs = !nearest[place];
    const last = parts[parts.length - 1];
    if (last?.differs === differs) {
      last.text += text;
    } else {
      parts.push({ text, differs });
    }
  });
  return parts;
}

/** A call as it was typed has no types of arrays, and differs from one that has in nearly every word. */
function hasTypes(call: string): boolean {
  return /\b[a-z]+\d+\[/.test(call);
}

/** Names, numbers, and each other letter by itself. */
function words(call: string): readonly string[] {
  return call.match(/[\w.]+|\W/gu) ?? [];
}

function count(kept: readonly boolean[]): number {
  return kept.filter(one => one).length;
}

/** Which words of `own` are in the longest sequence that both have. */
function common(own: readonly string[], other: readonly string[]): readonly boolean[] {
  const wide = other.length + 1;
  const lengths = new Uint16Array((own.length + 1) * wide);
  for (let i = own.length - 1; i >= 0; i--) {
    for (let j = other.length - 1; j >= 0; j--) {
      lengths[i * wide + j] =
        own[i] === other[j]
          ? lengths[(i + 1) * wide + j + 1] + 1
          : Math.max(lengths[(i + 1) * wide + j], lengths[i * wide + j + 1]);
    }
  }
  const kept = own.map(() => false);
  for (let i = 0, j = 0; i < own.length && j < other.length;) {
    if (own[i] === other[j]) {
      kept[i++] = true;
      j++;
    } else if (lengths[(i + 1) * wide + j] >= lengths[i * wide + j + 1]) {
      i++;
    } else {
      j++;
    }
  }
  return kept;
}
