import { StringDecoder } from 'node:string_decoder';
import { maxLeft, type TestFacts, testVerdicts } from '#run/module-test-record.ts';

/** Reads the results of Terraform's tests (Terraform: machine-readable UI, messages of `terraform test`). */

const maxLine = 1024 * 1024;

interface Left {
  instance?: string;
}

interface JsonLine {
  type?: string;
  test_summary?: { status?: string; passed?: number; failed?: number; errored?: number; skipped?: number };
  test_cleanup?: { failed_resources?: Left[] };
  test_interrupt?: { state?: Left[]; states?: Record<string, Left[]> };
}

const count = (value: unknown): number => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : 0);

export class TestOutput {
  readonly #decoder = new StringDecoder('utf8');
  readonly #left = new Set<string>();
  #line = '';
  #summary: Omit<TestFacts, 'left'> | undefined;

  push(bytes: Buffer): void {
    const lines = (this.#line + this.#decoder.write(bytes)).split('\n');
    this.#line = (lines.pop() ?? '').slice(-maxLine);
    for (const line of lines) this.#read(line);
  }

  /** Undefined until Terraform has printed its summary. */
  get facts(): TestFacts | undefined {
    const remaining = [...this.#left].slice(0, maxLeft);
    return this.#summary && { ...this.#summary, ...(remaining.length ? { left: remaining } : {}) };
  }

  #read(line: string): void {
    if (!line.startsWith('{"@level"')) return;
    try {
      this.#take(JSON.parse(line) as JsonLine);
    } catch {
      // A provider's own output.
    }
  }

  #take({ type, test_summary: summary, test_cleanup: cleanup, test_interrupt: interrupt }: JsonLine): void {
    if (type === 'test_cleanup') this.#remain(cleanup?.failed_resources);
    if (type === 'test_interrupt') {
      for (const addresses of [interrupt?.state, ...Object.values(interrupt?.states ?? {})]) this.#remain(addresses);
    }
    if (type !== 'test_summary' || !summary) return;
    const status = testVerdicts.find((verdict) => verdict === summary.status) ?? 'error';
    this.#summary = {
      status,
      passed: count(summary.passed),
      failed: count(summary.failed),
      errored: count(summary.errored),
      skipped: count(summary.skipped),
    };
  }

  #remain(resources: Left[] = []): void {
    for (const { instance } of resources) if (instance) this.#left.add(instance.slice(0, 300));
  }
}
