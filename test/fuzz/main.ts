import { parseArgs } from 'node:util';
import { fuzz, summary } from './fuzz.ts';

/**
 * `npm run fuzz -- --requests 25000 --seed 1`: more of the requests in `fuzz.test.ts`. Fails on any finding. A longer
 * run reaches limits of the platform (a user has 100 tokens, an organization 200 run tasks): take another seed instead.
 */
const { values } = parseArgs({
  options: { requests: { type: 'string', default: '25000' }, seed: { type: 'string' } },
});
const seed = values.seed === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(values.seed);
const requests = Number(values.requests);
console.log(`seed ${seed}, ${requests} requests`);
const started = performance.now();
const report = await fuzz({
  seed,
  requests,
  progress: (n, findings) => {
    if (n % 5000 === 0) console.log(`  ${n} asked, ${findings} found`);
  },
});
const seconds = (performance.now() - started) / 1000;
console.log(`${report.asked} asked in ${seconds.toFixed(0)} s`, report.statuses);
if (report.neverDone.length) console.log(`never answered but with a refusal:\n  ${report.neverDone.join('\n  ')}`);
if (report.findings.length) console.log(`\n${report.findings.length} found\n\n${summary(report.findings)}`);
process.exitCode = report.findings.length ? 1 : 0;
