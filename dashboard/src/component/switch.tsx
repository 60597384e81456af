// On or off.

import { Switch as Base } from '@base-ui/react/switch';

interface SwitchProps {
  readonly isOn: boolean;
  readonly label: string;
  readonly onChange: (isOn: boolean) => void;
  readonly reason?: string | null | undefined;
}

export function Switch({ isOn, label, onChange, reason }: SwitchProps) {
  const isOff = reason !== undefined && reason !== null;
  return (
    <span title={isOff ? reason : undefined}>
      <Base.Root
        checked={isOn}
        disabled={isOff}
        onCheckedChange={onChange}
        aria-label={label}
        className="relative flex h-4.5 w-8 cursor-pointer rounded-full bg-idle-solid p-0.5 data-checked:bg-ok-solid data-disabled:cursor-not-allowed data-disabled:opacity-50"
      >
        <Base.Thumb className="size-3.5 rounded-full bg-on-accent transition-transform data-checked:translate-x-3.5" />
      </Base.Root>
    </span>
  );
}
