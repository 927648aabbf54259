import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * `npm run vulnerabilities`, a scheduled check (.ci/scheduled): what is published today fails no commit of today. Fails for
 * a vulnerability of high severity in what is deployed that is not in known-vulnerabilities.json, and where the registry
 * does not answer. Those in tools are warnings.
 */

/** One that was looked at, why it does no harm here, and the last day (`YYYY-MM-DD`) that this is taken for granted. */
export interface KnownVulnerability {
  /** As a finding names it, e.g. `https://github.com/advisories/GHSA-…`. */
  url: string;
  reason: string;
  until: string;
}

interface Finding {
  name: string;
  severity: string;
  /** What it is, and where to read about it. */
  about: string[];
}

interface Report {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  message?: string;
}

const serious = ['high', 'critical'];

/** Serious ones in a report of `npm audit --json`; why there is none, if the registry gave none. */
export const readReport = (json: string): Finding[] | { unknown: string } => {
  let report: Report;
  try {
    report = JSON.parse(json) as Report;
  } catch {
    return { unknown: 'npm audit did not answer in JSON' };
  }
  const { auditReportVersion, vulnerabilities, message = 'npm audit gave no report' } = report;
  if (auditReportVersion === undefined || !vulnerabilities) return { unknown: message };
  return Object.entries(vulnerabilities)
    .filter(([, { severity }]) => serious.includes(severity))
    .map(([name, { severity, via }]) => ({
      name,
      severity,
      about: via.map((cause) => (typeof cause === 'string' ? `through ${cause}` : `${cause.title} (${cause.url})`)),
    }));
};

/** Findings with a cause that is not known, or no longer accepted. What a package has through another is that one's. */
export const unknownOf = (findings: Finding[], known: KnownVulnerability[], today: string): Finding[] => {
  const accepted = known.filter(({ until }) => until >= today);
  return findings.filter(({ about }) => {
    const own = about.filter((cause) => !cause.startsWith('through '));
    return own.some((cause) => !accepted.some(({ url }) => cause.endsWith(`(${url})`)));
  });
};

const audit = (...options: string[]): ReturnType<typeof readReport> => {
  const patience = ['--fetch-retries=1', '--fetch-timeout=20000'];
  return readReport(spawnSync('npm', ['audit', '--json', ...patience, ...options], { encoding: 'utf8' }).stdout);
};

const tell = (findings: Finding[]): void => {
  for (const { name, severity, about } of findings) console.error(`  ${name} (${severity}): ${about.join('; ')}`);
};

if (import.meta.main) {
  const deployed = audit('--omit=dev');
  if ('unknown' in deployed) {
    console.error(`The registry does not tell whether dependencies are vulnerable: ${deployed.unknown}`);
    process.exitCode = 1;
  } else {
    const known = JSON.parse(
      readFileSync(new URL('../known-vulnerabilities.json', import.meta.url), 'utf8'),
    ) as KnownVulnerability[];
    const unknown = unknownOf(deployed, known, new Date().toISOString().slice(0, 10));
    const tools = audit();
    const names = new Set(deployed.map(({ name }) => name));
    const others = 'unknown' in tools ? [] : tools.filter(({ name }) => !names.has(name));
    if (others.length) console.error('WARNING: known vulnerabilities in what builds and tests:');
    tell(others);
    if (unknown.length)
      console.error('Vulnerabilities in what is deployed; upgrade, or add to known-vulnerabilities.json:');
    tell(unknown);
    if (unknown.length) process.exitCode = 1;
  }
}
