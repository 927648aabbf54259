import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission } from '#infra/local/host/admission.ts';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const machine = (slots: number) => {
  const running: string[] = [];
  const processors = { idle: 0 };
  const admission = new Admission({ running: () => running.length, slots, idle: () => processors.idle });
  const ask = (...ids: string[]) => {
    for (const id of ids) admission.admit(id, () => running.push(id));
  };
  const end = (id: string) => {
    running.splice(running.indexOf(id), 1);
    admission.look();
  };
  return { admission, ask, end, processors, running };
};

describe('admission of tasks to one machine', () => {
  it('starts tasks up to the limit at once, and the others in order', () => {
    const { ask, end, running } = machine(2);
    ask('a', 'b', 'c', 'd');
    expect(running).toEqual(['a', 'b']);
    end('a');
    expect(running).toEqual(['b', 'c']);
    end('c');
    expect(running).toEqual(['b', 'd']);
  });

  it('starts one more task each time a processor is idle', () => {
    const { ask, processors, running } = machine(1);
    ask('a', 'b', 'c');
    processors.idle = 0.6;
    vi.advanceTimersByTime(150);
    expect(running).toEqual(['a', 'b']);
    vi.advanceTimersByTime(100);
    expect(running).toEqual(['a', 'b', 'c']);
  });

  it('starts a task at once while a processor is idle', () => {
    const { ask, processors, running } = machine(1);
    ask('a');
    processors.idle = 1;
    vi.advanceTimersByTime(150);
    ask('b');
    expect(running).toEqual(['a', 'b']);
  });

  it('starts a task every two seconds while every processor is busy', () => {
    const { ask, running } = machine(1);
    ask('a', 'b', 'c');
    vi.advanceTimersByTime(1950);
    expect(running).toEqual(['a']);
    vi.advanceTimersByTime(100);
    expect(running).toEqual(['a', 'b']);
    vi.advanceTimersByTime(2100);
    expect(running).toEqual(['a', 'b', 'c']);
  });

  it('never starts a withdrawn task', () => {
    const { admission, ask, end, running } = machine(1);
    ask('a', 'b');
    expect(admission.withdraw('b')).toBe(true);
    expect(admission.withdraw('a')).toBe(false);
    end('a');
    vi.advanceTimersByTime(5_000);
    expect(running).toEqual([]);
  });

  it('stops measuring processors once no task waits', () => {
    const { ask, end } = machine(1);
    ask('a', 'b');
    end('a');
    end('b');
    vi.advanceTimersByTime(200);
    expect(vi.getTimerCount()).toBe(0);
  });
});
