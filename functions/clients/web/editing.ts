import { useSignal } from '@preact/signals';
import type { Resource } from '#clients/client/client.ts';
import type { ResourceType } from '#clients/client/documents.ts';
import type { Live } from './live.ts';
import { get } from './session.ts';

/** The entry of a list that is being created, changed or removed. @param refresh reads the list again */
export const useEntry = <T>(refresh: () => void) => {
  const editing = useSignal<T | 'new' | undefined>(undefined);
  const removing = useSignal<T | undefined>(undefined);
  const close = () => {
    editing.value = undefined;
    removing.value = undefined;
    refresh();
  };
  return { editing, removing, close };
};

/**
 * Like {@link useEntry} for resources whose lists carry no ETag, which the API needs to detect conflicting edits.
 * @param path of the resources, e.g. `/tasks`
 */
export const useEditing = <T extends ResourceType>(path: string, { refresh }: Live<Resource<T>[]>) => {
  const entry = useEntry<Resource<T>>(refresh);
  const edit = ({ id }: Resource<T>) =>
    get<T>(`${path}/${id}`).then(
      (record) => {
        entry.editing.value = record;
      },
      // It was deleted, or the platform is unreachable: the list shows that.
      () => refresh(),
    );
  return { ...entry, edit };
};
