// A table that becomes a list of cards on a narrow screen.

import type { ReactNode } from 'react';

interface TableProps {
  readonly label: string;
  readonly columns: readonly ReactNode[];
  readonly children: ReactNode;
}

export function Table({ label, columns, children }: TableProps) {
  return (
    <div className="panel overflow-x-auto">
      <table aria-label={label} className="w-full border-collapse max-md:block">
        <thead className="max-md:hidden">
          <tr className="h-9 border-b bg-sunken/60 text-left text-xs text-muted">
            {columns.map((column, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns keep their places
              <th key={index} scope="col" className="px-3 font-medium whitespace-nowrap first:pl-4 last:pr-4">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody className="divide-y max-md:block">{children}</tbody>
      </table>
    </div>
  );
}

export function Row({
  children,
  isChosen = false,
  ...rest
}: {
  readonly children: ReactNode;
  readonly isChosen?: boolean;
  readonly 'data-row'?: string;
}) {
  return (
    <tr
      {...rest}
      className={`${isChosen ? 'bg-accent-soft' : 'hover:bg-hover'} max-md:flex max-md:flex-wrap max-md:items-center max-md:gap-x-3 max-md:gap-y-1 max-md:px-4 max-md:py-2.5`}
    >
      {children}
    </tr>
  );
}

interface CellProps {
  readonly children?: ReactNode;
  /** The column's name, for readers without a table head. */
  readonly label?: string;
  /** The first line of a card. */
  readonly isMain?: boolean;
  readonly isNumber?: boolean;
}

export function Cell({ children, label, isMain = false, isNumber = false }: CellProps) {
  return (
    <td
      className={`max-md:inline-flex max-md:items-center max-md:gap-1 md:px-3 md:py-2 md:first:pl-4 md:last:pr-4 ${isMain ? 'max-md:block! max-md:min-w-0 max-md:basis-full max-md:overflow-hidden' : 'max-md:text-xs'} ${isNumber ? 'tabular md:text-right' : ''}`}
    >
      {label !== undefined && <span className="text-2xs text-faint md:hidden">{label}</span>}
      {children}
    </td>
  );
}
