import { describe, expect, it } from 'vitest';
import { riddlesIn } from '#infra/build/words.ts';

const found = (text: string): string[] => riddlesIn('a.ts', text).map(({ line, word }) => `${line} ${word}`);

describe('riddle words', () => {
  it('are found in comments, texts and names, in any case', () => {
    expect(found("/** Nobody waits. */\nconst whoever = 'what is left';")).toEqual([
      '1 Nobody',
      '2 whoever',
      '2 what is',
    ]);
  });

  it('are found across the lines of a comment', () => {
    expect(found('/**\n * The run is\n * told.\n */')).toEqual(['2 is told']);
    expect(found('// The lock goes\n  // on.')).toEqual(['1 goes on']);
  });

  it('are found across concatenated strings', () => {
    expect(found("const text = 'users ' + 'who ' +\n  'may read';")).toHaveLength(1);
  });

  it('include programs that think', () => {
    expect(found('The platform says so, and it wants more.')).toEqual(['1 platform says', '1 it wants']);
  });

  it('do not include parts of words, and questions', () => {
    expect(found('const whateverElse = nobodyWaits; // What is the status of this run?')).toEqual([]);
  });

  it('come with a replacement', () => {
    for (const { instead } of riddlesIn('a.ts', 'nobody, whatever, of which')) expect(instead).toMatch(/\w{3}/);
  });
});
