/** Expressions of the table's requests (table.ts: Change). */

const operators = new Set(['AND', 'OR', 'NOT', 'IN', 'BETWEEN']);

/** `plan.status` → `#plan.#status`, and records the names: any word could be one of the 573 reserved ones. */
export const aliased = (path: string, names: Record<string, string>): string =>
  path
    .split('.')
    .map((segment) => {
      if (segment.startsWith('#')) return segment;
      const name = `#${segment.replaceAll(/[^a-zA-Z0-9]/g, '_')}`;
      names[name] = segment;
      return name;
    })
    .join('.');

/** Both conditions. Parentheses only where they matter: DynamoDB rejects redundant ones. */
export const both = (first: string, second: string | undefined): string =>
  second === undefined ? first : [first, second].map(asOperand).join(' AND ');

const asOperand = (condition: string): string => (condition.includes(' OR ') ? `(${condition})` : condition);

/** A condition with every attribute path aliased; functions, operators and values stay unchanged. */
export const conditionOf = (condition: string | undefined, names: Record<string, string>): string | undefined =>
  condition?.replaceAll(/:\w+|#?[A-Za-z_][\w.#]*(?!\w*\s*\()/g, (word) =>
    word.startsWith(':') || operators.has(word) ? word : aliased(word, names),
  );
