import { useSignal } from '@preact/signals';
import { SmallButton } from '#clients/web/parts/button.tsx';
import {
  type Filter,
  fieldName,
  fieldsIn,
  kindOf,
  operatorNames,
  operatorsOf,
  takesValue,
} from '#clients/web/text/explorer.ts';
import type { Operator, QueryType } from '#features/explorer/fields.ts';
import { runStatuses, statuses } from '#run/status.ts';

interface Props {
  type: QueryType;
  filters: Filter[];
  onChange(filters: Filter[]): void;
}

/** Filters, one per line; all must match. */
export const Filters = ({ type, filters, onChange }: Props) => {
  const replace = (at: number, filter: Filter) => onChange(filters.map((one, i) => (i === at ? filter : one)));
  const [first = ''] = fieldsIn(type).filter((field) => field === 'workspace_name' || field === 'name');
  const field = first || fieldsIn(type)[0] || '';
  const add = () => onChange([...filters, { field, operator: 'contains', value: '' }]);
  return (
    <div class="stack">
      {filters.map((filter, i) => (
        <Line
          key={i}
          number={i + 1}
          type={type}
          filter={filter}
          onChange={(next) => replace(i, next)}
          onRemove={() => onChange(filters.filter((_, at) => at !== i))}
        />
      ))}
      <div>
        <SmallButton text="Add filter" onClick={add} />
      </div>
    </div>
  );
};

interface LineProps {
  number: number;
  type: QueryType;
  filter: Filter;
  onChange(filter: Filter): void;
  onRemove(): void;
}

const Line = ({ number, type, filter, onChange, onRemove }: LineProps) => {
  const { field, operator, value } = filter;
  const choose = (next: string) => {
    const [usual = 'is'] = operatorsOf(type, next);
    const kept = operatorsOf(type, next).includes(operator) ? operator : usual;
    onChange({ field: next, operator: kept, value: kindOf(type, next) === kindOf(type, field) ? value : '' });
  };
  return (
    <fieldset class="filter-line" aria-label={`Filter ${number}`}>
      <select aria-label="Field" value={field} onChange={(event) => choose(event.currentTarget.value)}>
        {fieldsIn(type).map((name) => (
          <option key={name} value={name}>
            {fieldName(name)}
          </option>
        ))}
      </select>
      <select
        aria-label="Operator"
        value={operator}
        onChange={(event) => onChange({ ...filter, operator: event.currentTarget.value as Operator })}
      >
        {operatorsOf(type, field).map((name) => (
          <option key={name} value={name}>
            {operatorNames[name]}
          </option>
        ))}
      </select>
      {takesValue(operator) && <ValueOf type={type} filter={filter} onChange={onChange} />}
      <SmallButton text="Remove" of={`filter ${number}`} onClick={onRemove} />
    </fieldset>
  );
};

const ValueOf = ({ type, filter, onChange }: Pick<LineProps, 'type' | 'filter' | 'onChange'>) => {
  const kind = kindOf(type, filter.field);
  // A response that arrives during typing renders this again.
  const typed = useSignal<string | undefined>(undefined);
  const set = (value: string) => {
    typed.value = undefined;
    onChange({ ...filter, value });
  };
  if (kind === 'boolean') {
    return (
      <select aria-label="Value" value={filter.value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">…</option>
        <option value="true">true</option>
        <option value="false">false</option>
      </select>
    );
  }
  if (filter.field === 'current_run_status' && filter.operator.startsWith('is')) {
    return (
      <select aria-label="Value" value={filter.value} onChange={(event) => set(event.currentTarget.value)}>
        <option value="">…</option>
        {runStatuses.map((status) => (
          <option key={status} value={status}>
            {statuses[status].label}
          </option>
        ))}
      </select>
    );
  }
  const shared = {
    'aria-label': 'Value',
    value: typed.value ?? filter.value,
    onInput: (event: Event) => {
      typed.value = (event.currentTarget as HTMLInputElement).value;
    },
    onChange: (event: Event) => set((event.currentTarget as HTMLInputElement).value),
  };
  if (kind === 'number') return <input type="number" step="any" {...shared} />;
  return kind === 'time' ? <input type="date" {...shared} /> : <input {...shared} />;
};
