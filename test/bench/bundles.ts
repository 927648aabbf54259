import { stat } from 'node:fs/promises';
import { synthesize } from '#infra/build/synth.ts';
import { coldImportMs, importRounds } from './cold-import.ts';
import { type Figure, round, type Section } from './figures.ts';

// As deployed: source maps are read when a stack trace is read (infra/build/stack-traces.ts).

export const bundles: Section = {
  about: `size and cold import (median of ${importRounds} new processes) of every Lambda bundle`,
  needsPlatform: false,
  async *measure(): AsyncGenerator<Figure> {
    const built = (await synthesize()).bundles.functions;
    for (const [name, { file }] of Object.entries(built)) {
      yield { name: `${name} size`, value: round((await stat(file)).size / 1024), unit: 'KB', atMost: 350 };
      yield { name: `${name} import`, value: round(await coldImportMs(file)), unit: 'ms', atMost: 75 };
    }
  },
};
