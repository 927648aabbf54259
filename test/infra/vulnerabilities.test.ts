import { expect, it } from 'vitest';
import { readReport } from '../../infra/vulnerabilities.ts';

const title = 'Prototype pollution in x';
const url = 'https://github.com/advisories/GHSA-1';

it('finds serious vulnerabilities and their dependency path', () => {
  const vulnerabilities = {
    x: { severity: 'critical', via: [{ title, url }] },
    y: { severity: 'high', via: ['x'] },
    z: { severity: 'moderate', via: [{ title, url }] },
  };
  expect(readReport(JSON.stringify({ auditReportVersion: 2, vulnerabilities }))).toEqual([
    { name: 'x', severity: 'critical', about: [`${title} (${url})`] },
    { name: 'y', severity: 'high', about: ['through x'] },
  ]);
  expect(readReport('{"auditReportVersion":2,"vulnerabilities":{}}')).toEqual([]);
});

it.each([
  ['{"message":"405 Method Not Allowed - POST https://registry.test/bulk","statusCode":405}', /405/],
  ['{"error":{"code":"ENOTFOUND"}}', /no report/],
  ['', /not answer in JSON/],
])('rejects %s as a report', (json, why) => {
  expect(readReport(json)).toEqual({ unknown: expect.stringMatching(why) });
});
