import { Check, Minus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Checkbox, type CheckboxProps } from 'react-aria-components/Checkbox'
import './check-box.css'

interface CheckBoxProps extends Omit<CheckboxProps, 'children' | 'className' | 'style'> {
	readonly children?: ReactNode
}

/** Without children it needs an `aria-label`. */
export const CheckBox = ({ children, ...props }: CheckBoxProps) => (
	<Checkbox {...props} className="check">
		{({ isIndeterminate }) => (
			<>
				<span className="check-mark" aria-hidden="true">
					{isIndeterminate ? <Minus size={14} /> : <Check size={14} />}
				</span>
				{children}
			</>
		)}
	</Checkbox>
)
