import type { MappingField } from '@remit/sdk'
import { Card } from '../ui/card.tsx'
import { showTransform } from './transforms.ts'
import { showOrigin } from './words.ts'
import './mappings.css'

/** The fields for who may not change them: source left, target right, what is done between. */
export const Fields = ({ fields }: { fields: readonly MappingField[] }) => (
	<Card title="Fields">
		<ul className="mapping-rows">
			{fields.map((field) => (
				<li key={field.target} className="mapping-row">
					<code>{showOrigin(field)}</code>
					<span className="quiet-text">{field.transforms?.map(showTransform).join(', ') || 'as it is'} →</span>
					<code>{field.target}</code>
				</li>
			))}
		</ul>
	</Card>
)
