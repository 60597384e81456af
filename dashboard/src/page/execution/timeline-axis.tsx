// The axis of the timeline. Drawing over it with the pointer shows that part alone; the buttons do the same for the keyboard.

import { Maximize2, ZoomIn } from 'lucide-react';
import { type PointerEvent, useRef, useState } from 'react';
import { IconButton } from '../../component/button.tsx';
import { durationText } from '../../model/time.ts';
import { partOf, type Span, ticksOf } from '../../model/waterfall.ts';

interface TimelineAxisProps {
  readonly whole: Span;
  readonly span: Span;
  /** Null: the whole again. */
  readonly onZoom: (span: Span | null) => void;
}

export function TimelineAxis({ whole, span, onZoom }: TimelineAxisProps) {
  const axis = useRef<HTMLSpanElement>(null);
  const [drawn, setDrawn] = useState<{ readonly from: number; readonly to: number } | null>(null);
  const isZoomed = span.from !== whole.from || span.to !== whole.to;
  const shareAt = ({ clientX }: PointerEvent): number => {
    const { left, width } = axis.current!.getBoundingClientRect();
    return Math.min(1, Math.max(0, (clientX - left) / Math.max(1, width)));
  };
  const finish = () => {
    const part = drawn === null ? null : partOf(span, drawn);
    if (part !== null) onZoom(part);
    setDrawn(null);
  };
  return (
    <div className="sticky top-0 z-10 flex h-9 items-center border-b bg-panel text-2xs text-faint">
      <span className="flex w-32 shrink-0 items-center justify-end gap-0.5 pr-2 md:w-52">
        {isZoomed ? (
          <IconButton label="Show the whole timeline" onClick={() => onZoom(null)}>
            <Maximize2 className="size-3.5" aria-hidden="true" />
          </IconButton>
        ) : null}
        <IconButton label="Look closer at the first half" onClick={() => onZoom(partOf(span, { from: 0, to: 0.5 }))}>
          <ZoomIn className="size-3.5" aria-hidden="true" />
        </IconButton>
      </span>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: drawing is for the pointer; the buttons beside it are for the keyboard */}
      <span
        ref={axis}
        data-axis=""
        title="Draw over a part to look closer"
        className="relative mr-20 h-full flex-1 cursor-crosshair touch-none select-none"
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          const at = shareAt(event);
          setDrawn({ from: at, to: at });
        }}
        onPointerMove={(event) => drawn !== null && setDrawn({ ...drawn, to: shareAt(event) })}
        onPointerUp={finish}
        onDoubleClick={() => onZoom(null)}
      >
        {ticksOf(span).map((tick, index) => (
          <span
            key={tick}
            className={`tabular absolute top-2.5 -translate-x-1/2 whitespace-nowrap ${index % 2 === 0 ? 'max-md:hidden' : ''}`}
            style={{ left: `${(100 * tick) / (span.to - span.from)}%` }}
          >
            {durationText(tick + span.from - whole.from)}
          </span>
        ))}
        {drawn !== null && (
          <span
            className="absolute inset-y-0 border-x border-accent bg-accent/15"
            style={{
              left: `${100 * Math.min(drawn.from, drawn.to)}%`,
              width: `${100 * Math.abs(drawn.to - drawn.from)}%`,
            }}
          />
        )}
      </span>
    </div>
  );
}
