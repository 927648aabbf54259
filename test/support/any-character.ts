import fc from 'fast-check';

/**
 * Any character of Unicode, a third of them ASCII, because syntax is ASCII. For fast-check's own unit `binary`
 * every process first lists all 1.1 million characters, which takes a second.
 */
export const anyCharacter: fc.Arbitrary<string> = fc
  .oneof(fc.nat(0x7f), fc.nat(0xd7ff), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((code) => String.fromCodePoint(code));
