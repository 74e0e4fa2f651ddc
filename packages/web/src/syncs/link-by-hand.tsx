import type { SyncRecordError } from '@remit/sdk'
import { useState } from 'react'
import { failureOf } from '../api/pages.ts'
import { useWrite } from '../api/query.ts'
import { Button } from '../ui/button.tsx'
import { ErrorPanel } from '../ui/error-panel.tsx'
import { toast } from '../ui/toast.ts'
import { RecordLink } from './record-link.tsx'

/** Several records match: a person says which of them it is, and the next run goes on with both. */
export function LinkByHand({ error, candidates }: { error: SyncRecordError; candidates: readonly string[] }) {
	const write = useWrite('syncs.links.create')
	const [linked, setLinked] = useState<string>()
	const trouble = failureOf(write)
	const { syncId, externalId, recordId, direction } = error
	const link = (candidate: string) => {
		const pair = direction === 'inbound' ? { externalId, recordId: candidate } : { externalId: candidate, recordId }
		if (pair.externalId === null || pair.recordId === null) return
		write.mutate([syncId, { externalId: pair.externalId, recordId: pair.recordId }], {
			onSuccess: () => {
				setLinked(candidate)
				toast('The records are linked: the next run compares them')
			},
		})
	}
	return (
		<>
			{trouble && <ErrorPanel isSmall {...trouble} />}
			<ul className="held" aria-label="Records that match">
				{candidates.map((candidate) => (
					<li key={candidate}>
						{direction === 'inbound' ? <RecordLink id={candidate} /> : <span>{candidate} at the provider</span>}
						{linked === candidate ? (
							<span className="quiet-text">Linked: the next run compares them</span>
						) : (
							<Button
								isSmall
								aria-label={`It is this one: ${candidate}`}
								isDisabled={linked !== undefined}
								isPending={write.isPending}
								onPress={() => link(candidate)}
							>
								It is this one
							</Button>
						)}
					</li>
				))}
			</ul>
		</>
	)
}
