import { expect, it } from 'vitest';
import { readReport, unknownOf } from '#infra/build/vulnerabilities.ts';

const title = 'Prototype pollution in x';
const url = 'https://github.com/advisories/GHSA-1';

it('serious vulnerabilities are found with their dependency path', () => {
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
  ['', /not print JSON/],
])('%s is rejected as a report', (json, why) => {
  expect(readReport(json)).toEqual({ unknown: expect.stringMatching(why) });
});

it('a known vulnerability is accepted until its date, and no other one of the same package', () => {
  const x = { name: 'x', severity: 'high', about: [`${title} (${url})`] };
  const y = { name: 'y', severity: 'high', about: ['through x'] };
  const known = [{ url, reason: 'not called', until: '2026-02-01' }];
  expect(unknownOf([x, y], known, '2026-02-01')).toEqual([]);
  expect(unknownOf([x, y], known, '2026-02-02')).toEqual([x]);
  expect(unknownOf([x], [], '2026-01-01')).toEqual([x]);
  const second = { ...x, about: [...x.about, 'Another (https://github.com/advisories/GHSA-2)'] };
  expect(unknownOf([second], known, '2026-01-01')).toEqual([second]);
});
