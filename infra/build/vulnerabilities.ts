import { spawnSync } from 'node:child_process';

/**
 * `npm run vulnerabilities`: fails for a known vulnerability of high severity in what is deployed, and tells of those in
 * tools. A registry that does not answer is a warning: what is not known today will be known to the next run.
 */

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
    console.error(`WARNING: nobody knows whether dependencies are vulnerable: ${deployed.unknown}`);
  } else {
    const tools = audit();
    const names = new Set(deployed.map(({ name }) => name));
    const others = 'unknown' in tools ? [] : tools.filter(({ name }) => !names.has(name));
    if (others.length) console.error('WARNING: known vulnerabilities in what builds and tests:');
    tell(others);
    if (deployed.length) console.error('Known vulnerabilities in what is deployed; upgrade:');
    tell(deployed);
    if (deployed.length) process.exitCode = 1;
  }
}
