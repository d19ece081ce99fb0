/** Numbers as people read them. */
import type { TranslationBundle } from '@jupyterlab/translation';

/** All that a program cost, in seconds. */
export function seconds(costs: Readonly<Record<string, number>>): number {
  return Object.values(costs).reduce((sum, cost) => sum + cost, 0);
}

/** A cost in seconds: `35 ms`, `1.2 s`. */
export function costText(cost: number): string {
  if (cost < 0.0995) {
    return `${Math.max(1, Math.round(cost * 1000))} ms`;
  }
  return cost < 9.95 ? `${cost.toFixed(cost < 0.995 ? 2 : 1)} s` : `${Math.round(cost)} s`;
}

/** How long ago something was; `when` in seconds since 1970. */
export function agoText(when: number, trans: TranslationBundle, now = Date.now() / 1000): string {
  const passed = Math.max(0, now - when);
  if (passed < 60) {
    return trans.__('just now');
  }
  if (passed < 3600) {
    return trans.__('%1 min ago', Math.round(passed / 60));
  }
  return new Date(when * 1000).toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' });
}
