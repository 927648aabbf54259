import { readFile } from 'node:fs/promises';
import type { RunUsage, Step } from '#infra/local/aws/lambda/usage.ts';
import { operatorFetch } from '#infra/local/host/operator-client.ts';
import type { Local } from '#test/e2e/support/platform.ts';

export interface Figure {
  name: string;
  value: number;
  unit: string;
  /** The target, if there is one. */
  atMost?: number;
}

export interface Section {
  about: string;
  needsPlatform: boolean;
  /** Whether the section needs a running platform. */
  measure(platform?: Local): AsyncGenerator<Figure>;
}

export const quantile = (values: number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] as number;
};

export const median = (values: number[]): number => quantile(values, 0.5);

export const round = (value: number, digits = 0): number => Number(value.toFixed(digits));

/** Usage of a run as the local endpoint counted it, in AWS's billing units. */
export const usageOf = async (platform: Local, runId: string) =>
  (await (await operatorFetch(platform, `/_usage?run=${runId}&steps`)).json()) as Omit<RunUsage, 'totals'> & {
    totals: Record<string, number>;
    steps: Step[];
  };

/** Processor time of a process in ms, only on Linux, where a second has 100 ticks (proc(5)). */
export const processorMs = async (pid: number): Promise<number | undefined> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // After the name, which may contain blanks, the 12th and 13th fields are user and system time.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
  return fields && (Number(fields[11]) + Number(fields[12])) * 10;
};
