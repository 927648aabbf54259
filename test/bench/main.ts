import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { cpus, totalmem } from 'node:os';
import { PlatformProcess } from '#test/e2e/support/platform.ts';
import { budget } from './budget.ts';
import { bundles } from './bundles.ts';
import { cancel } from './cancel.ts';
import { coldStarts } from './cold-starts.ts';
import { disk } from './disk.ts';
import { drain } from './drain.ts';
import { type Figure, isMet, type Section } from './figures.ts';
import { init } from './init.ts';
import { large } from './large.ts';
import { load } from './load.ts';
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
 * `npm run bench [section …] [--keep]`: prints a table with target, verdict and the value of the last release, and writes
 * `.build/bench.json`. Machines differ and are noisy, so compare ratios, counts and sizes; durations only in one run.
 * `--keep` records the figures as those of this release, in `kept.json`. `BENCH_CHECKOUT`: a folder with the installed
 * package or another checkout, whose platform is measured.
 */
const sections: Record<string, Section> = {
  overhead,
  budget,
  'queue-cost': queueCost,
  reads,
  load,
  disk,
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

const requested = process.argv.slice(2).filter((argument) => argument !== '--keep');
for (const name of requested) {
  if (!sections[name]) throw new Error(`no section ${name}; there are ${Object.keys(sections).join(', ')}`);
}

interface Measured extends Figure {
  section: string;
}

interface Measurement {
  /** UTC, ISO 8601. */
  at: string;
  node: string;
  cpus: number;
  memoryGb: number;
  figures: Measured[];
}

const keptFile = 'test/bench/kept.json';
const kept = existsSync(keptFile)
  ? (JSON.parse(await readFile(keptFile, 'utf8')) as Measurement)
  : { at: '', figures: [] as Measured[] };

const isSame = (a: Measured, b: Measured): boolean => a.section === b.section && a.name === b.name;

const targetOf = ({ atMost, atLeast, unit }: Figure): string =>
  [atMost !== undefined && `≤ ${atMost} ${unit}`, atLeast !== undefined && `≥ ${atLeast} ${unit}`]
    .filter(Boolean)
    .join(', ');

const lineOf = (figure: Measured): string => {
  const former = kept.figures.find((one) => isSame(one, figure));
  const target = targetOf(figure);
  return [
    figure.name.padEnd(58),
    `${figure.value} ${figure.unit}`.padStart(14),
    former ? `${former.value}`.padStart(10) : ' '.repeat(10),
    target.padStart(14),
    target && (isMet(figure) ? 'met' : 'MISSED'),
  ]
    .join('  ')
    .trimEnd();
};

console.log(
  `${'figure'.padEnd(60)}  ${'now'.padStart(14)}  ${'release'.padStart(10)}  ${'target'.padStart(14)}  verdict`,
);
const figures: Measured[] = [];
for (const [name, section] of Object.entries(sections)) {
  if (requested.length && !requested.includes(name)) continue;
  console.log(`\n${name}: ${section.about}`);
  const platform = section.needsPlatform ? await PlatformProcess.start({}, process.env.BENCH_CHECKOUT) : undefined;
  try {
    for await (const figure of section.measure(platform?.local)) {
      const measured = { section: name, ...figure };
      figures.push(measured);
      console.log(`  ${lineOf(measured)}`);
    }
  } finally {
    await platform?.remove();
  }
}

const write = async (file: string, all: Measured[]): Promise<void> => {
  const machine = { node: process.version, cpus: cpus().length, memoryGb: Math.round(totalmem() / 2 ** 30) };
  const measurement: Measurement = { at: new Date().toISOString(), ...machine, figures: all };
  await writeFile(file, `${JSON.stringify(measurement, null, 2)}\n`);
  console.log(`written to ${file}`);
};

const missed = figures.filter((figure) => !isMet(figure));
console.log(`\n${figures.length} figures, ${missed.length} of ${figures.filter(targetOf).length} targets missed`);
await mkdir('.build', { recursive: true });
await write('.build/bench.json', figures);
if (process.argv.includes('--keep')) {
  // Sections that were not measured keep their figures.
  const measured = new Set(figures.map(({ section }) => section));
  await write(keptFile, [...kept.figures.filter(({ section }) => !measured.has(section)), ...figures]);
}
