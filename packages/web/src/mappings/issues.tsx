import type { MappingValidation } from '@remit/sdk'
import { Banner } from '../ui/banner.tsx'

/** What is to be mended before a mapping can be used. */
export const Issues = ({ validation: { issues } }: { validation: MappingValidation }) =>
	issues.length === 0 ? null : (
		<Banner>
			{issues.length === 1 ? 'One thing is to be mended before it can be active:' : 'To be mended before it can be active:'}
			<ul>
				{issues.map(({ pointer, message, field }) => (
					<li key={`${pointer} ${message}`}>{field === null ? message : `Field ${field + 1}: ${message}`}</li>
				))}
			</ul>
		</Banner>
	)
