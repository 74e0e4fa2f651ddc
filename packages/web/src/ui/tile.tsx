import type { ReactNode } from 'react'
import './tile.css'

/** A figure with its name; in a link it leads to the list behind it. */
export const Tile = ({ label, value, note }: { label: string; value: ReactNode; note?: ReactNode }) => (
	<div className="tile">
		<div className="tile-label">{label}</div>
		<div className="tile-value">{value}</div>
		{note && <div className="tile-note">{note}</div>}
	</div>
)
