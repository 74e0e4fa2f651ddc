import type { ReactNode } from 'react'
import type { Tone } from './badge.tsx'
import './banner.css'

/** A line above a page or form about its state, such as that there is no connection. */
export const Banner = ({ tone = 'warn', children, action }: { tone?: Tone; children: ReactNode; action?: ReactNode }) => (
	<div className={`banner ${tone}`} role="status">
		<div>{children}</div>
		{action}
	</div>
)
