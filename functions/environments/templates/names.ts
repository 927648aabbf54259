import { randomInt } from 'node:crypto';

/** Generated names. */

const adjectives =
  'amber brave calm clever eager fair gentle happy keen lively mellow noble quick quiet sharp sunny'.split(' ');
const animals =
  'badger crane dolphin falcon gecko heron ibex koala lynx marten otter panda raven seal tapir wren'.split(' ');

const randomWord = (words: string[]): string => words[randomInt(words.length)] as string;

export const randomName = (): string => `${randomWord(adjectives)}_${randomWord(animals)}${randomInt(10_000)}`;
