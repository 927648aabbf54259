import { readFileSync, writeFileSync } from 'node:fs';
import { synthesize } from '#infra/build/synth.ts';
import { measureRun } from './measure.ts';
import { counts, page, withCosts } from './tables.ts';

/** `npm run costs`: writes the figures into infra/docs/costs.md; with `--measure` it counts a new run first. */
if (process.argv.includes('--measure')) writeFileSync(counts, `${JSON.stringify(await measureRun(), null, 2)}\n`);
const { template } = await synthesize({ context: {} });
writeFileSync(page, withCosts(readFileSync(page, 'utf8'), template));
