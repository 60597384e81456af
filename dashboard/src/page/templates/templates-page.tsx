// Document templates: what there is, and for whom.

import { Link, useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../component/button.tsx';
import { useCommand } from '../../component/command.ts';
import { Dialog } from '../../component/dialog.tsx';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { useRefusal } from '../../data/session-query.ts';
import { createDocument, useDocuments } from '../../data/templates.ts';
import { clipped, slugOf } from '../../model/text.ts';

export function TemplatesPage() {
  const documents = useDocuments();
  return (
    <Page title="Templates" detail="Documents that workflows render, in Liquid." actions={<NewDocument />}>
      <Answered query={documents} what="the templates">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No document templates">
              A document is a text with fields, such as a letter or a report. The action{' '}
              <code className="font-mono">core.template</code> renders it.
            </Empty>
          ) : (
            <Table label="Templates" columns={['Document', 'Set', 'Version', 'On']}>
              {list.map((document) => {
                const { id, displayName, version, isEnabled, ...rest } = document;
                const set = setOf(rest);
                return (
                  <Row key={`${set}/${id}`}>
                    <Cell isMain>
                      <Link
                        to="/templates/$set/$documentId"
                        params={{ set, documentId: id }}
                        className="font-medium hover:text-accent"
                      >
                        {clipped(displayName, 80)}
                      </Link>
                      <span className="block font-mono text-xs text-muted">{id}</span>
                    </Cell>
                    <Cell label="Set">{set}</Cell>
                    <Cell label="Version">v{version}</Cell>
                    <Cell label="On">{isEnabled ? 'on' : 'off'}</Cell>
                  </Row>
                );
              })}
            </Table>
          )
        }
      </Answered>
    </Page>
  );
}

function NewDocument() {
  const [isOpen, setOpen] = useState(false);
  const refused = useRefusal('templates:manage');
  return (
    <>
      <Button
        kind="primary"
        reason={refused}
        icon={<Plus className="size-4" aria-hidden="true" />}
        onClick={() => setOpen(true)}
      >
        New document
      </Button>
      {isOpen && <NewDocumentDialog onClose={() => setOpen(false)} />}
    </>
  );
}

function NewDocumentDialog({ onClose }: { readonly onClose: () => void }) {
  const command = useCommand(['documents']);
  const navigate = useNavigate();
  const [name, setName] = useState('');
  const [set, setSet] = useState('documents');
  const id = slugOf(name);
  const create = async () => {
    const done = await command('The document', async () => {
      await createDocument(set, id, name.trim());
      return true;
    });
    if (done === true) await navigate({ to: '/templates/$set/$documentId', params: { set, documentId: id } });
  };
  const fields = [
    ['Name', name, setName],
    ['Set', set, (text: string) => setSet(slugOf(text))],
  ] as const;
  return (
    <Dialog
      title="New document"
      description={id === '' ? 'Workflows call it by its set and its id.' : `Its id will be ${set}/${id}.`}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind="primary"
          reason={id === '' || set === '' ? 'Give it a name and a set' : null}
          onClick={() => void create()}
        >
          Create
        </Button>
      }
    >
      {fields.map(([label, value, change]) => (
        <label key={label} className="flex flex-col gap-1">
          <span className="text-muted">{label}</span>
          <input className="field" value={value} maxLength={80} onChange={({ target }) => change(target.value)} />
        </label>
      ))}
    </Dialog>
  );
}

const setOf = (rest: object): string => {
  const { templateSetId, setId, set } = rest as Record<string, string | undefined>;
  return templateSetId ?? setId ?? set ?? '';
};
