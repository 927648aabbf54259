import { expect, it } from 'vitest';
import { withSerial } from '#resources/states/serial.ts';

const changed = (text: string): string => withSerial(Buffer.from(text), 7).toString();

it('a changed serial changes no other byte', () => {
  const rest = '"lineage":"l","outputs":{"id":{"value":9007199254740993,"type":"number"},"f":{"value":1.0}}';
  expect(changed(`{"version":4,"serial":1,${rest}}\n`)).toBe(`{"version":4,"serial": 7,${rest}}\n`);
  expect(changed(`{${rest},"serial":12}`)).toBe(`{${rest},"serial": 7}`);
  expect(changed(`{\n  "serial": 1,\n  ${rest}\n}`)).toBe(`{\n  "serial": 7,\n  ${rest}\n}`);
});

it('only the outermost serial is changed', () => {
  const others = [
    '"terraform_version":"serial","lineage":"a\\"serial\\":3\\\\"',
    '"outputs":{"serial":{"value":{"serial":2}}}',
    '"resources":[{"serial":2},"serial",["serial"]]',
  ];
  for (const other of others) {
    expect(changed(`{${other},"serial":1}`)).toBe(`{${other},"serial": 7}`);
    expect(changed(`{"serial":1,${other}}`)).toBe(`{"serial": 7,${other}}`);
  }
  // Parsers use the last of two members, in any spelling.
  expect(changed('{"serial":1,"\\u0073erial":2}')).toBe('{"serial":1,"\\u0073erial": 7}');
  expect(() => changed('{"lineage":"serial"}')).toThrow(/no serial/);
});
