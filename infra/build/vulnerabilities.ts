import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * `npm run vulnerabilities`, a scheduled check (.ci/scheduled), because a new advisory must not fail an unrelated
 * commit. Fails for a vulnerability of high severity in a deployed package that is not in known-vulnerabilities.json,
 * and if the registry does not answer. Vulnerabilities of tools are warnings.
 */

/**
 * An accepted vulnerability, the reason why it does no harm here, and the last day (`YYYY-MM-DD`) on which it is
 * accepted.
 */
export interface KnownVulnerability {
  /** As in a finding, e.g. `https://github.com/advisories/GHSA-…`. */
  url: string;
  reason: string;
  until: string;
}

interface Finding {
  name: string;
  severity: string;
  /** Title and URL of each advisory. */
  about: string[];
}

interface Report {
  auditReportVersion?: number;
  vulnerabilities?: Record<string, { severity: string; via: (string | { title: string; url: string })[] }>;
  message?: string;
}

const serious = ['high', 'critical'];

/** Serious findings in a report of `npm audit --json`, or the reason why the registry gave no report. */
export const readReport = (json: string): Finding[] | { unknown: string } => {
  let report: Report;
  try {
    report = JSON.parse(json) as Report;
  } catch {
    return { unknown: 'npm audit did not print JSON' };
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

/**
 * Findings that are not accepted, or whose acceptance has expired. A package that is vulnerable only through a dependency
 * is left out.
 */
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
    console.error(`The registry did not report vulnerabilities of the dependencies: ${deployed.unknown}`);
    process.exitCode = 1;
  } else {
    const known = JSON.parse(
      readFileSync(new URL('../known-vulnerabilities.json', import.meta.url), 'utf8'),
    ) as KnownVulnerability[];
    const unknown = unknownOf(deployed, known, new Date().toISOString().slice(0, 10));
    const tools = audit();
    const names = new Set(deployed.map(({ name }) => name));
    const others = 'unknown' in tools ? [] : tools.filter(({ name }) => !names.has(name));
    if (others.length) console.error('WARNING: known vulnerabilities in build and test tools:');
    tell(others);
    if (unknown.length)
      console.error(
        'Vulnerabilities in deployed packages; upgrade them, or add an entry to known-vulnerabilities.json:',
      );
    tell(unknown);
    if (unknown.length) process.exitCode = 1;
  }
}
