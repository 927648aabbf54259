import { mkdir, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { budget } from './budget.ts';
import { bundles } from './bundles.ts';
import { cancel } from './cancel.ts';
import { coldStarts } from './cold-starts.ts';
import { drain } from './drain.ts';
import type { Figure, Section } from './figures.ts';
import { init } from './init.ts';
import { large } from './large.ts';
import { logs } from './logs.ts';
import { overhead } from './overhead.ts';
import { page } from './page.ts';
import { queueCost } from './queue-cost.ts';
import { reads } from './reads.ts';
import { recovery } from './recovery.ts';
import { room } from './room.ts';
import { runnerDeath } from './runner-death.ts';
import { scale } from './scale.ts';
import { snapshots } from './snapshots.ts';
import { stateBytes } from './state-bytes.ts';
import { versionControl } from './version-control.ts';

/**
 * `npm run bench [section …]`: prints a table and writes `.build/bench.json`. Machines differ and are noisy, so compare
 * ratios and differences of one run.
 */
const sections: Record<string, Section> = {
  overhead,
  budget,
  'queue-cost': queueCost,
  reads,
  snapshots,
  'state-bytes': stateBytes,
  large,
  logs,
  drain,
  scale,
  init,
  room,
  'runner-death': runnerDeath,
  cancel,
  'version-control': versionControl,
  recovery,
  page,
  bundles,
  'cold-starts': coldStarts,
};

const requested = process.argv.slice(2);
for (const name of requested) {
  if (!sections[name]) throw new Error(`no section ${name}; there are ${Object.keys(sections).join(', ')}`);
}

const figures: Figure[] = [];
for (const [name, section] of Object.entries(sections)) {
  if (requested.length && !requested.includes(name)) continue;
  console.log(`\n${name}: ${section.about}`);
  const platform = section.needsPlatform ? await PlatformProcess.start() : undefined;
  try {
    for await (const figure of section.measure(platform?.local)) {
      figures.push(figure);
      const target =
        figure.atMost === undefined
          ? ''
          : `at most ${figure.atMost} ${figure.unit}: ${figure.value <= figure.atMost ? 'met' : 'MISSED'}`;
      console.log(
        `  ${figure.name.padEnd(58)} ${String(figure.value).padStart(10)} ${figure.unit.padEnd(8)} ${target}`,
      );
    }
  } finally {
    await platform?.remove();
  }
}
await mkdir('.build', { recursive: true });
await writeFile(
  '.build/bench.json',
  JSON.stringify(
    {
      at: new Date().toISOString(),
      node: process.version,
      cpus: cpus().length,
      memoryGb: Math.round(totalmem() / 2 ** 30),
      figures,
    },
    null,
    2,
  ),
);
console.log(`\nwritten to .build/bench.json`);
