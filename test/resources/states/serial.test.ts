import { expect, it } from 'vitest';
import { withSerial } from '#resources/states/serial.ts';

const changed = (text: string): string => withSerial(Buffer.from(text), 7).toString();

it('changes the serial and not a byte more', () => {
  const rest = '"lineage":"l","outputs":{"id":{"value":9007199254740993,"type":"number"},"f":{"value":1.0}}';
  expect(changed(`{"version":4,"serial":1,${rest}}\n`)).toBe(`{"version":4,"serial": 7,${rest}}\n`);
  expect(changed(`{${rest},"serial":12}`)).toBe(`{${rest},"serial": 7}`);
  expect(changed(`{\n  "serial": 1,\n  ${rest}\n}`)).toBe(`{\n  "serial": 7,\n  ${rest}\n}`);
});

it('takes nothing else for the serial', () => {
  const others = [
    '"terraform_version":"serial","lineage":"a\\"serial\\":3\\\\"',
    '"outputs":{"serial":{"value":{"serial":2}}}',
    '"resources":[{"serial":2},"serial",["serial"]]',
  ];
  for (const other of others) {
    expect(changed(`{${other},"serial":1}`)).toBe(`{${other},"serial": 7}`);
    expect(changed(`{"serial":1,${other}}`)).toBe(`{"serial": 7,${other}}`);
  }
  // The last of two counts for parsers, however it is written.
  expect(changed('{"serial":1,"\\u0073erial":2}')).toBe('{"serial":1,"\\u0073erial": 7}');
  expect(() => changed('{"lineage":"serial"}')).toThrow(/no serial/);
});
