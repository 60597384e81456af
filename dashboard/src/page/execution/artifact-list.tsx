// Files that attempts left behind, each to be downloaded. They are fetched with the token and saved from memory: a plain link would
// send no token.

import { Download } from 'lucide-react';
import { Button } from '../../component/button.tsx';
import { Time } from '../../component/time.tsx';
import { complain } from '../../component/toast.tsx';
import { artifactBytes } from '../../data/executions.ts';
import { bytesText, clipped } from '../../model/text.ts';

interface Artifact {
  readonly artifactId: string;
  readonly nodeId: string;
  readonly name: string;
  readonly kind: string;
  readonly sizeBytes: number;
  readonly expiresAt?: string | undefined;
}

async function save({ artifactId, name }: Artifact): Promise<void> {
  try {
    const url = URL.createObjectURL(await artifactBytes(artifactId));
    const link = document.createElement('a');
    link.href = url;
    link.download = name;
    link.click();
    URL.revokeObjectURL(url);
  } catch (error) {
    complain('The file could not be loaded', error);
  }
}

export function ArtifactList({ artifacts }: { readonly artifacts: readonly Artifact[] }) {
  return (
    <ul className="divide-y" aria-label="Artifacts">
      {artifacts.map((artifact) => (
        <li key={artifact.artifactId} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-4 py-2">
          <span className="font-medium wrap-anywhere">{clipped(artifact.name, 120)}</span>
          <span className="text-xs text-muted">
            {artifact.kind}, {bytesText(artifact.sizeBytes)}, by {clipped(artifact.nodeId, 60)}
            {artifact.expiresAt !== undefined && ', kept until '}
            {artifact.expiresAt !== undefined && <Time at={artifact.expiresAt} as="clock" />}
          </span>
          <span className="ml-auto">
            <Button
              small
              icon={<Download className="size-3.5" aria-hidden="true" />}
              onClick={() => void save(artifact)}
            >
              Download
            </Button>
          </span>
        </li>
      ))}
    </ul>
  );
}
