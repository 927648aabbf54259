import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Admission } from '#infra/local/host/admission.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

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
  it('starts as many at once as there is room for, the others in their order', () => {
    const { ask, end, running } = machine(2);
    ask('a', 'b', 'c', 'd');
    expect(running).toEqual(['a', 'b']);
    end('a');
    expect(running).toEqual(['b', 'c']);
    end('c');
    expect(running).toEqual(['b', 'd']);
  });

  it('starts one more each time a processor is found idle', () => {
    const { ask, processors, running } = machine(1);
    ask('a', 'b', 'c');
    processors.idle = 0.6;
    vi.advanceTimersByTime(150);
    expect(running).toEqual(['a', 'b']);
    vi.advanceTimersByTime(100);
    expect(running).toEqual(['a', 'b', 'c']);
  });

  it('starts one that comes while a processor is idle at once', () => {
    const { ask, processors, running } = machine(1);
    ask('a');
    processors.idle = 1;
    vi.advanceTimersByTime(150);
    ask('b');
    expect(running).toEqual(['a', 'b']);
  });

  it('starts two a second beside tasks that keep every processor busy', () => {
    const { ask, running } = machine(1);
    ask('a', 'b', 'c');
    vi.advanceTimersByTime(450);
    expect(running).toEqual(['a']);
    vi.advanceTimersByTime(100);
    expect(running).toEqual(['a', 'b']);
    vi.advanceTimersByTime(600);
    expect(running).toEqual(['a', 'b', 'c']);
  });

  it('never starts one that was withdrawn', () => {
    const { admission, ask, end, running } = machine(1);
    ask('a', 'b');
    expect(admission.withdraw('b')).toBe(true);
    expect(admission.withdraw('a')).toBe(false);
    end('a');
    vi.advanceTimersByTime(5_000);
    expect(running).toEqual([]);
  });

  it('looks at no processor once there is room again', () => {
    const { ask, end } = machine(1);
    ask('a', 'b');
    end('a');
    end('b');
    vi.advanceTimersByTime(200);
    expect(vi.getTimerCount()).toBe(0);
  });
});
