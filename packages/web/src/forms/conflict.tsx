import { useQuery } from '@tanstack/react-query'
import { read } from '../api/query.ts'
import { fieldName } from '../format/names.ts'
import { Button } from '../ui/button.tsx'
import type { FieldConflict } from './merge.ts'
import './conflict.css'

/** A field and its values as a person reads them; undefined to take the words of the contract. */
export type ConflictWords = (conflict: FieldConflict) => { label: string; mine: string; theirs: string } | undefined

interface ConflictsProps {
	readonly conflicts: readonly FieldConflict[]
	readonly onChoose: (conflict: FieldConflict, choice: 'mine' | 'theirs') => void
	readonly wordsOf?: ConflictWords | undefined
}

/** The fields that another person changed as well, at the top of the form, with one choice each. */
const Conflicts = ({ conflicts, onChoose, wordsOf }: ConflictsProps) => (
	<section className="conflicts" role="alert" aria-label="Changed by somebody else">
		<p>
			<strong>Somebody else changed this meanwhile.</strong>{' '}
			{conflicts.length === 1 ? 'One field was changed by both of you' : `${conflicts.length} fields were changed by both of you`}
			: choose, then save again.
		</p>
		{conflicts.map((conflict) => {
			const words = wordsOf?.(conflict)
			const kind = kindOf(conflict.name)
			const label = words?.label ?? fieldName(kind ? conflict.name.slice(0, -2) : conflict.name)
			return (
				<fieldset key={conflict.name} className="conflict">
					<legend>{label}</legend>
					{(['mine', 'theirs'] as const).map((choice) => (
						<div key={choice} className="conflict-side">
							<span className="conflict-who">{choice === 'mine' ? 'Yours' : 'Theirs'}</span>
							<span className="conflict-value">
								{kind && typeof conflict[choice] === 'string' ? (
									<RecordName kind={kind} id={conflict[choice]} />
								) : (
									shown(words?.[choice] ?? conflict[choice])
								)}
							</span>
							<Button
								isSmall
								onPress={() => onChoose(conflict, choice)}
								aria-label={`Keep ${choice === 'mine' ? 'yours' : 'theirs'}: ${label}`}
							>
								Keep {choice === 'mine' ? 'yours' : 'theirs'}
							</Button>
						</div>
					))}
				</fieldset>
			)
		})}
	</section>
)

export default Conflicts

const kinds: Readonly<Record<string, string>> = {
	companyId: 'companies',
	contactId: 'contacts',
	dealId: 'deals',
	pipelineId: 'pipelines',
}

/** What a field with the id of a record points to; undefined of any other field. */
const kindOf = (field: string): string | undefined => kinds[field]

function RecordName({ kind, id }: { kind: string; id: string }) {
	const { data } = useQuery(read(`${kind}.get` as 'deals.get', id))
	return data?.name ?? '…'
}

const shown = (value: unknown) =>
	value === '' || value === null || value === undefined
		? '(empty)'
		: typeof value === 'object'
			? JSON.stringify(value)
			: String(value)
