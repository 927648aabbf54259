import type { Platform } from './platform.ts';
import type { Target } from './target.ts';

/** A check of `stepform verify`, and its outcome. */

export type Result = 'ok' | 'differs' | 'failed' | 'skipped';

export interface Outcome {
  result: Result;
  /** What was measured, or the reason. */
  text: string;
  /** Measured seconds, bytes or counts by name, for --json. */
  figures?: Record<string, number>;
}

export interface Check {
  name: string;
  /** What it proves, for people who read the documentation. */
  proves: string;
  /** The documented behavior; a measurement beyond it `differs`. */
  documented: string;
  /** `canary`: also with --canary. `full`: only with --full. */
  part?: 'canary' | 'full';
  /** It mostly waits, and starts before the others. */
  isSlow?: true;
  /** Without it, in every deployment. */
  isFor?(target: Target): boolean;
  /** @throws {Error} the check failed */
  perform(platform: Platform): Promise<Outcome>;
}

type Figures = Outcome['figures'];

export const ok = (text: string, figures?: Figures): Outcome => ({ result: 'ok', text, figures });
export const differs = (text: string, figures?: Figures): Outcome => ({ result: 'differs', text, figures });
export const skipped = (text: string): Outcome => ({ result: 'skipped', text });

/** @throws {Error} with the text, unless the condition holds */
export function expect(condition: unknown, text: string): asserts condition {
  if (!condition) throw new Error(text);
}

/** Seconds with one decimal. */
export const seconds = (value: number): string => `${value.toFixed(1)} s`;

/** Ok up to the documented maximum. */
export const within = (value: number, maximum: number, text: string, figures?: Figures): Outcome =>
  value <= maximum ? ok(text, figures) : differs(`${text}; documented: ${maximum} s at most`, figures);

const paceMs = 500;

/** Polls until the condition is met. @throws {Error} after the time limit, with what was waited for */
export const until = async <T>(
  what: string,
  read: () => Promise<T>,
  done: (value: T) => boolean,
  limitSeconds: number,
): Promise<T> => {
  const end = Date.now() + limitSeconds * 1000;
  for (;;) {
    const value = await read();
    if (done(value)) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${limitSeconds} s`);
    await new Promise((resolve) => setTimeout(resolve, paceMs));
  }
};
