import { useSignal } from '@preact/signals';
import { errorText } from '../session.ts';
import { Notice } from './basics.tsx';

/** State of a button's action: `busy` while it runs, and `failure` with the error of the last attempt. */
export const useAction = () => {
  const busy = useSignal(false);
  const error = useSignal<string | undefined>(undefined);
  /** @returns whether it succeeded */
  const perform = async (work: () => Promise<unknown>): Promise<boolean> => {
    busy.value = true;
    error.value = undefined;
    try {
      await work();
      return true;
    } catch (caught) {
      error.value = errorText(caught);
      return false;
    } finally {
      busy.value = false;
    }
  };
  return { busy, perform, failure: error.value && <Notice kind="bad">{error.value}</Notice> };
};
