import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';

/**
 * Repeated clicks can hit a control that has just appeared under the pointer. So controls that decide something are
 * inert until their meaning has been unchanged for a second without a click or key press.
 */
const settleMs = 1_000;

/** Restarts the progress bars of inert controls. */
const showAnew = (): void => {
  for (const button of document.querySelectorAll('.settling')) {
    for (const animation of button.getAnimations({ subtree: true })) animation.currentTime = 0;
  }
};

/**
 * @param meaning of the controls: they become inert when it changes
 * @returns whether they can be used
 */
export const useSettled = (meaning: string): boolean => {
  const settled = useSignal<string | undefined>(undefined);
  useLayoutEffect(() => {
    if (settled.peek() === meaning) return;
    let timer: number | undefined;
    const wait = () => {
      clearTimeout(timer);
      timer = window.setTimeout(end, settleMs);
      showAnew();
    };
    const signs = ['pointerdown', 'click', 'keydown'] as const;
    const stop = () => {
      clearTimeout(timer);
      for (const sign of signs) removeEventListener(sign, onPress, true);
    };
    const end = () => {
      stop();
      settled.value = meaning;
    };
    // Typing a comment does not count as a key press.
    const onPress = (event: Event) => {
      if (!(event instanceof KeyboardEvent) || event.key === 'Enter' || event.key === ' ') wait();
    };
    for (const sign of signs) addEventListener(sign, onPress, { capture: true, passive: true });
    wait();
    return stop;
  }, [meaning, settled]);
  return settled.value === meaning;
};
