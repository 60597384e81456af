// An address that leads nowhere.

import { ButtonLink } from '../component/button.tsx';
import { Page } from '../component/page.tsx';
import { Empty } from '../component/state.tsx';

export function Missing() {
  return (
    <Page title="Not found">
      <Empty title="There is no page at this address">
        <p className="mb-3">The link may be of another version, or mistyped.</p>
        <ButtonLink to="/">Go to the overview</ButtonLink>
      </Empty>
    </Page>
  );
}
