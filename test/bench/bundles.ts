import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';
import { synthesize } from '../../infra/synth.ts';
import { type Figure, median, round, type Section } from './figures.ts';

const run = promisify(execFile);
const times = 5;
// As it is deployed: source maps are read when a stack is looked at (infra/stack-traces.ts).

export const bundles: Section = {
  about: `size and cold import (median of ${times} new processes) of every Lambda bundle`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const built = (await synthesize()).bundles.functions;
    for (const [name, { file }] of Object.entries(built)) {
      yield { name: `${name} size`, value: round((await stat(file)).size / 1024), unit: 'KB', atMost: 300 };
      const took: number[] = [];
      for (let i = 0; i < times; i++) {
        const script = `const t = performance.now(); require(${JSON.stringify(file)}); console.log(performance.now() - t)`;
        took.push(Number((await run(process.execPath, ['-e', script])).stdout));
      }
      yield { name: `${name} import`, value: round(median(took)), unit: 'ms', atMost: 75 };
    }
  },
};
