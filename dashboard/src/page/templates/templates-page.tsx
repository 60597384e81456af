// Document templates: what there is, and for whom.

import { Link } from '@tanstack/react-router';
import { Page } from '../../component/page.tsx';
import { Answered, Empty } from '../../component/state.tsx';
import { Cell, Row, Table } from '../../component/table.tsx';
import { useDocuments } from '../../data/templates.ts';
import { clipped } from '../../model/text.ts';

export function TemplatesPage() {
  const documents = useDocuments();
  return (
    <Page title="Templates" detail="Documents that workflows render, in Liquid.">
      <Answered query={documents} what="the templates">
        {(list) =>
          list.length === 0 ? (
            <Empty title="No document templates">
              A set and its documents are added with the API or <code className="font-mono">PUT /templates/sets/…</code>
              .
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

const setOf = (rest: object): string => {
  const { templateSetId, setId, set } = rest as Record<string, string | undefined>;
  return templateSetId ?? setId ?? set ?? '';
};
