import { checks } from '#infra/deployment/verify/checks.ts';

/** The checks of `stepform verify`, in their order. */
export const verifyTable = (): string =>
  [
    '| check | proves | documented |',
    '|---|---|---|',
    ...checks.map(
      ({ name, proves, documented, part }) =>
        `| ${name}${part ? ` (\`--${part}\`)` : ''} | ${proves} | ${documented} |`,
    ),
  ].join('\n');
