/** What a map has for a key; where it has nothing yet, what `make` gives, which it has from then on. */
export function getOrMake<Key, Value>(
  map: { get(key: Key): Value | undefined; set(key: Key, value: Value): unknown },
  key: Key,
  make: () => Value
): Value {
  let value = map.get(key);
  if (value === undefined) {
    value = make();
    map.set(key, value);
  }
  return value;
}

/** A map from the whole numbers from `least` up to a limit: it is asked without looking for the key. */
export class NumberMap<Value> {
  /** For each key, one more than the place of its value; 0 where it has none. */
  private readonly places: Int32Array;
  private readonly values: Value[] = [];

  constructor(
    limit: number,
    private readonly least = 0
  ) {
    this.places = new Int32Array(limit - least);
  }

  get(key: number): Value | undefined {
    const place = this.places[key - this.least];
    return place > 0 ? this.values[place - 1] : undefined;
  }

  set(key: number, value: Value): void {
    const place = this.places[key - this.least];
    if (place > 0) {
      this.values[place - 1] = value;
    } else {
      this.places[key - this.least] = this.values.push(value);
    }
  }
}
