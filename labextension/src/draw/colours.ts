/**
 * Colours for groups and for amounts, in both themes. Lines of groups keep apart for colour-blind eyes, fills are light
 * or dark enough for every text on them; `colours.test.ts` computes both. Amounts go from pale to strong in one hue.
 */

type Pair = readonly [fill: string, line: string];

interface Colours {
  readonly groups: readonly Pair[];
  readonly amounts: readonly Pair[];
}

export const GROUPS = 7;
export const AMOUNTS = 5;

export type ColourRole = `${'group' | 'amount'}${number}${'' | 'Line'}`;

const light: Colours = {
  groups: [
    ['#dde6fe', '#2024a7'],
    ['#fee0c9', '#cc7200'],
    ['#b2f4d9', '#37a17f'],
    ['#f5dde8', '#650a3e'],
    ['#ede0f9', '#b76bf2'],
    ['#f4e7ae', '#66580c'],
    ['#c1edfd', '#056b85']
  ],
  amounts: [
    ['#f8fafd', '#99a6b8'],
    ['#ebf5ff', '#728baf'],
    ['#def0ff', '#4b6fa5'],
    ['#d1ebff', '#22539a'],
    ['#c8e7ff', '#00358e']
  ]
};

const dark: Colours = {
  groups: [
    ['#29355f', '#425bdd'],
    ['#4d2a06', '#f68c11'],
    ['#0f3d2c', '#40c59b'],
    ['#52233a', '#c52c7e'],
    ['#3f2f5a', '#ba93fb'],
    ['#3b3700', '#ece040'],
    ['#0d3b47', '#8fecf9']
  ],
  amounts: [
    ['#1c2024', '#4d5660'],
    ['#1c2631', '#5e748b'],
    ['#1c2d3f', '#6e93b9'],
    ['#1a334c', '#7fb3e8'],
    ['#183a5b', '#90d4ff']
  ]
};

/** The colours by role, as a palette has them. */
function roles({ groups, amounts }: Colours): Record<ColourRole, string> {
  const all: Record<string, string> = {};
  for (const [name, pairs] of [
    ['group', groups],
    ['amount', amounts]
  ] as const) {
    pairs.forEach(([fill, line], index) => {
      all[`${name}${index}`] = fill;
      all[`${name}${index}Line`] = line;
    });
  }
  return all as Record<ColourRole, string>;
}

export const groupColours = { light: roles(light), dark: roles(dark) };
