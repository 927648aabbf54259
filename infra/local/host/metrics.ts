import { statfsSync } from 'node:fs';
import type { Health } from './health.ts';

/** What the operator of one machine watches, in Prometheus' text format (prometheus.io: exposition formats). */

export interface MetricsOptions {
  /** Data folder. */
  folder: string;
  health(): Health;
  /** Running runners: plans and applies, and warm runners. */
  runners(): number;
  /** Running function calls. */
  calls(): number;
}

interface Metric {
  name: string;
  help: string;
  type: 'gauge' | 'counter';
  values: readonly (readonly [labels: string, value: number])[];
}

const single = (value: number): Metric['values'] => [['', value]];

export class Metrics {
  readonly #options: MetricsOptions;
  /** By the first digit of the status. */
  readonly #responses = new Map<string, number>();

  constructor(options: MetricsOptions) {
    this.#options = options;
  }

  countResponse(status: number): void {
    const kind = `${Math.floor(status / 100)}xx`;
    this.#responses.set(kind, (this.#responses.get(kind) ?? 0) + 1);
  }

  text(): string {
    return this.#metrics()
      .map(({ name, help, type, values }) => {
        const lines = values.map(([labels, value]) => `stepform_${name}${labels} ${value}\n`);
        return `# HELP stepform_${name} ${help}\n# TYPE stepform_${name} ${type}\n${lines.join('')}`;
      })
      .join('');
  }

  #metrics(): Metric[] {
    const { folder, health, runners, calls } = this.#options;
    const { bsize, bavail, files, ffree } = statfsSync(folder);
    const responses = [...this.#responses].sort().map(([kind, count]) => [`{status="${kind}"}`, count] as const);
    return [
      {
        name: 'healthy',
        help: '1 if /healthz answers 200',
        type: 'gauge',
        values: single(Number(health().status === 'ok')),
      },
      { name: 'runners', help: 'Runner processes', type: 'gauge', values: single(runners()) },
      { name: 'function_calls', help: 'Function calls in progress', type: 'gauge', values: single(calls()) },
      { name: 'http_responses_total', help: 'Responses of the API by status', type: 'counter', values: responses },
      { name: 'data_free_bytes', help: 'Free space of the data folder', type: 'gauge', values: single(bsize * bavail) },
      // File systems without a fixed number of inodes report 0.
      {
        name: 'data_free_inodes',
        help: 'Free inodes of the data folder',
        type: 'gauge',
        values: files ? single(ffree) : [],
      },
      {
        name: 'memory_bytes',
        help: 'Resident memory without runners',
        type: 'gauge',
        values: single(process.memoryUsage.rss()),
      },
      {
        name: 'start_time_seconds',
        help: 'Start since the epoch',
        type: 'gauge',
        values: single(Math.round(Date.now() / 1000 - process.uptime())),
      },
    ];
  }
}
