import { onlineManager } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import './skeleton.css'

const subscribe = (changed: () => void) => onlineManager.subscribe(changed)

/** Rows in place of a list that comes; they show after 200 ms only, so that quick answers do not flicker. */
export function Skeleton({ rows = 8 }: { rows?: number }) {
	const isOnline = useSyncExternalStore(subscribe, () => onlineManager.isOnline())
	if (!isOnline)
		return (
			<p className="options-empty" role="status">
				This was not loaded before. It comes when the connection is back.
			</p>
		)
	return (
		<div className="skeleton" role="status">
			<span className="hidden">Loading…</span>
			{Array.from({ length: rows }, (_, row) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: the rows are alike.
				<div key={row} className="skeleton-row" aria-hidden="true">
					<span />
					<span />
					<span />
				</div>
			))}
		</div>
	)
}
